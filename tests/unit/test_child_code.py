"""What a child imports runs on Python 3.9: nothing newer is in it, and all of it is declared to be child code."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST_IMPORTED = """
import importlib, pkgutil, sys
import cometfuzz.execution.worker, cometfuzz.routes
for module in pkgutil.iter_modules(cometfuzz.routes.__path__):
    if module.name != "registry":  # it loads the routes of all packages, for the parent
        importlib.import_module(f"cometfuzz.routes.{module.name}")
print(*(module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "cometfuzz"), sep="\\n")
"""
NEWER = {
    "contextlib": {"aclosing", "chdir"},
    "datetime": {"UTC"},
    "enum": {"StrEnum", "verify"},
    "itertools": {"batched", "pairwise"},
    "typing": {
        *("Concatenate", "Never", "NotRequired", "ParamSpec", "Required", "Self", "TypeAlias", "TypeGuard", "Unpack"),
        *("assert_never", "assert_type", "dataclass_transform", "override", "reveal_type"),
    },
    "types": {"EllipsisType", "NoneType", "UnionType"},
}
"""What the standard library has from 3.10 on, as far as anybody here might use it."""


def declared() -> list[Path]:
    """The files that ruff reads as Python 3.9."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["per-file-target-version"]
    assert set(settings.values()) == {"py39"}
    found: list[Path] = []
    for pattern in settings:
        before, _, rest = pattern.partition("{")
        names, _, after = rest.partition("}")
        found += [path for name in names.split(",") for path in ROOT.glob(f"{before}{name}{after}")]
    return sorted(found)


def too_new(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Match | ast.TryStar):
            yield f"line {node.lineno}: {type(node).__name__}"
        elif isinstance(node, ast.ImportFrom):
            yield from (
                f"line {node.lineno}: {each.name}"
                for each in node.names
                if each.name in NEWER.get(node.module or "", ())
            )
        elif isinstance(node, ast.Import):
            yield from (f"line {node.lineno}: {each.name}" for each in node.names if each.name == "tomllib")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from _call(node, node.func.id)


def _call(call: ast.Call, name: str) -> Iterator[str]:
    keywords = {keyword.arg for keyword in call.keywords}
    if (name == "zip" and "strict" in keywords) or (name == "dataclass" and keywords & {"slots", "kw_only"}):
        yield f"line {call.lineno}: {name} with {keywords}"
    if name in ("isinstance", "issubclass") and isinstance(call.args[-1], ast.BinOp):
        yield f"line {call.lineno}: {name} of a union"


@pytest.mark.parametrize(
    "text",
    [
        "zip(a, b, strict=True)",
        "@dataclass(frozen=True, slots=True)\nclass A: ...",
        "isinstance(x, list | tuple)",
        "match x:\n    case 1: ...",
        "from typing import Self",
        "import tomllib",
    ],
)
def test_what_is_too_new_is_seen(text: str) -> None:
    assert list(too_new(ast.parse(text)))


@pytest.mark.parametrize("path", declared(), ids=lambda path: path.stem)
def test_child_code_has_nothing_newer_than_python_39(path: Path) -> None:
    assert list(too_new(ast.parse(path.read_text(), feature_version=(3, 9)))) == []


def test_all_that_a_child_imports_is_declared_to_be_child_code() -> None:
    ran = subprocess.run([sys.executable, "-c", LIST_IMPORTED], capture_output=True, text=True, check=True)
    imported = {Path(line) for line in ran.stdout.split()}
    assert {path for path in imported if path.name != "__init__.py"} - set(declared()) == set()
