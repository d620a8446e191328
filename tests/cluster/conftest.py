"""A cluster takes root, network namespaces and the extra's packages. As root nothing is skipped: what lacks fails."""

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if os.geteuid() != 0 and "networked" in item.fixturenames:  # type: ignore[attr-defined]
            item.add_marker(pytest.mark.skip(reason="network namespaces take root"))


@pytest.fixture
def networked() -> None:
    """For tests that make network namespaces."""
