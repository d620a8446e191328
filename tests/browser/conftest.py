import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from devtools import Browser, find_browser
from reporting import write_campaign

from cometfuzz.campaign.records import Records
from cometfuzz.places import Place
from cometfuzz.reports.facts import Facts, gather
from cometfuzz.reports.html import write_report


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = find_browser()
    assert program, "expected chromium on the path, or its path in CHROMIUM; received none: apt-get install chromium"
    with Browser(program, tmp_path_factory.mktemp("browser") / "profile") as started:
        yield started


@pytest.fixture(scope="session")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    with Records(write_campaign(tmp_path_factory.mktemp("campaigns") / "monday", 120)) as records:
        return gather(records)


@pytest.fixture(scope="session")
def report(facts: Facts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(facts, Place(tmp_path_factory.mktemp("pages") / "report")).parent


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go: the folder that SCREENSHOTS names, to look at them, else a passing one."""
    folder = Path(os.environ.get("SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
