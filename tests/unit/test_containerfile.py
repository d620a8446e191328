"""The container file: what it asks of the Makefile and of Python is there. No engine builds it here."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")


def test_it_makes_targets_that_there_are() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    made = re.findall(r"^RUN make (\S+)$", TEXT, re.MULTILINE)
    (entry,) = re.findall(r'^ENTRYPOINT \["make", "(\S+)"\]$', TEXT, re.MULTILINE)
    assert made == ["setup"]
    assert entry == "fuzz"
    assert targets >= {*made, entry}
    assert "minutes" in re.findall(r"^(\w+) := ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_its_python_is_one_that_is_tested() -> None:
    (version,) = re.findall(r"^FROM \S+/python:(\d+\.\d+)-", TEXT, re.MULTILINE)
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    assert f"Programming Language :: Python :: {version}" in classifiers


def test_what_git_ignores_stays_out_of_the_image() -> None:
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split()}
    left_out = {line.removeprefix("**/") for line in (ROOT / ".containerignore").read_text(encoding="utf-8").split()}
    assert ignored - {"*.py[cod]", "*.egg-info"} <= left_out
