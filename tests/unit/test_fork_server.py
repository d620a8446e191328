"""Scripts that are run in forks of one process."""

import sys
from pathlib import Path

import pytest

from cometfuzz.triage import fork_server as servers
from cometfuzz.triage.fork_server import fork_server

PYTHON = Path(sys.executable)


def test_scripts_share_imports_and_nothing_else() -> None:
    with fork_server(PYTHON, "import fractions\nfractions.touched = 0\n") as stage:
        text = "import sys\nimport fractions\nfractions.touched += 1\nprint('seen:', fractions.touched)\nsys.exit(1)\n"
        first, second = stage.run(text), stage.run(text)
    assert (first.exit_code, first.printed) == (1, "seen: 1\n")
    assert second == first


def test_a_script_may_end_in_any_way() -> None:
    with fork_server(PYTHON, "import a_library_that_is_missing\n") as stage:
        assert stage.run("import os\nos.abort()\n").exit_code == -6
        raised = stage.run("raise ValueError('no')\n")
        assert (raised.exit_code, "ValueError: no" in raised.errors) == (1, True)
        assert stage.run("print('well')\n").printed == "well\n"


def test_a_script_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "LIMIT_S", 0.2)
    with fork_server(PYTHON, "") as stage:
        assert stage.run("import time\ntime.sleep(60)\n").exit_code is None
        assert stage.run("print('next')\n").printed == "next\n"


def test_a_rehearsal_that_dies_shows_nothing() -> None:
    with fork_server(PYTHON, "import os\nos._exit(3)\n") as stage:
        ran = stage.run("print('seen: this')\n")
    assert (ran.exit_code, ran.printed) == (None, "")
