"""Conformance tests run real libraries in the main environment, which `make setup` builds."""

from pathlib import Path

import pytest

from cometfuzz.execution import environments


@pytest.fixture(scope="session")
def main_python() -> Path:
    environment = environments.find("main")
    assert environment.ready, "expected the environment `main`; run `make setup`"
    return environment.python
