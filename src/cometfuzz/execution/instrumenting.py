"""Instrumented modules: slipcover's bytecode in a form that can be kept on disk, for Python 3.11.

slipcover puts a call of a probe before every line and branch, behind a NOP that becomes a jump over it when it has done
its work. Probes cannot be stored, so a `Part` names the places where they go. Making parts takes seconds, reading
them milliseconds. Standard library, and slipcover inside functions.
"""

import ast
import contextlib
import dis
import hashlib
import marshal
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

FORMAT = "1"
"""Raise it when what older code has stored must not be used any more."""

Label = int | tuple[int, int]
"""A line, or a branch: (line it leaves, line it goes to)."""

_SKIP = dis.opmap["JUMP_FORWARD"]
_NOP = dis.opmap["NOP"]
_DIGEST_SIZE = hashlib.sha256().digest_size


Part = tuple[CodeType, int, tuple[tuple[int, Label, int], ...], tuple[tuple[int, "Part"], ...]]
"""A code object without its probes; which constant is to call them; (offset, label, constant) of each; inner parts.

Plain tuples, since nothing else can be marshalled. The constants named are None until `assemble` fills them in.
"""


class Instrumented(NamedTuple):
    """A module's code, and all there is to reach in it."""

    digest: str
    part: Part
    labels: frozenset[Label]


class Cache:
    """Instrumented modules on disk. Reading one runs code, so the folder must be its owner's alone, or it is not used.

    A file that cannot be read or written is made anew or left out: the cache only saves time.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._usable = _is_private(folder)

    def read(self, key: str) -> bytes | None:
        if not self._usable:
            return None
        try:
            stored = (self.folder / key).read_bytes()
        except OSError:
            return None
        data = stored[_DIGEST_SIZE:]
        return data if hashlib.sha256(data).digest() == stored[:_DIGEST_SIZE] else None

    def write(self, key: str, data: bytes) -> None:
        if not self._usable:
            return
        # Not a Place: several children may write one key at once, and what is run is readable by its owner alone.
        with contextlib.suppress(OSError), tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
            try:
                file.write(hashlib.sha256(data).digest() + data)
                file.close()
                os.replace(file.name, self.folder / key)
            except OSError:
                os.unlink(file.name)


def _is_private(folder: Path) -> bool:
    try:
        seen = folder.lstat()
    except OSError:
        return False
    return seen.st_uid == os.geteuid() and not seen.st_mode & 0o077


def instrument(path: Path, cache: Cache) -> Instrumented:
    """The module at `path`, out of the cache if it is there. The key is all that its bytecode depends on."""
    from slipcover.version import __version__

    source = path.read_bytes()
    digest = hashlib.sha256(source).hexdigest()
    key = hashlib.sha256("\0".join([FORMAT, sys.version, __version__, str(path), digest]).encode()).hexdigest()
    stored = cache.read(key)
    if stored is not None:
        part, labels = marshal.loads(stored)
    else:
        part, labels = _make(path, source)
        cache.write(key, marshal.dumps((part, labels)))
    return Instrumented(digest[:16], part, labels)


def _make(path: Path, source: bytes) -> tuple[Part, frozenset[Label]]:
    from slipcover import Slipcover
    from slipcover.branch import preinstrument

    tree = ast.parse(source)
    pairs = {_pair(node) for node in ast.walk(tree) if isinstance(node, ast.Tuple)}
    slipcover = Slipcover(branch=True)
    code = slipcover.instrument(compile(preinstrument(tree), str(path), "exec", dont_inherit=True))
    branches = slipcover.code_branches[str(path)]
    if branches & pairs:  # slipcover would put a probe in the place of the equal constant: lines only
        slipcover = Slipcover(branch=False)
        code, branches = slipcover.instrument(compile(source, str(path), "exec", dont_inherit=True)), set()
    return _strip(slipcover, code), frozenset(slipcover.code_lines[str(path)] | branches)


def _pair(node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(item.value if isinstance(item, ast.Constant) else None for item in node.elts)


def _strip(slipcover: Any, code: CodeType) -> Part:
    from slipcover import probe
    from slipcover.bytecode import Editor

    editor, consts = Editor(code), list(code.co_consts)
    signal = next(at for at, const in enumerate(consts) if const is probe.signal)
    inner = tuple((at, _strip(slipcover, const)) for at, const in enumerate(consts) if isinstance(const, CodeType))
    probes = []
    for offset, label in slipcover.code2index[code]:
        _, at = editor.get_inserted_function(offset)
        probes.append((offset, label, at))
    for at in [signal, *(at for *_, at in probes), *(at for at, _ in inner)]:
        consts[at] = None
    return code.replace(co_consts=tuple(consts)), signal, tuple(probes), inner


class Live:
    """A code object in use, with those probes that nothing has reached yet."""

    def __init__(self, part: Part, wanted: Collection[Label], probe_for: Callable[[Label], Any]) -> None:
        from slipcover import probe

        code, signal, probes, inner = part
        self.inner: dict[int, Live] = {at: Live(below, wanted, probe_for) for at, below in inner}
        self.probes = [(offset, label) for offset, label, _ in probes if label in wanted]
        consts = list(code.co_consts)
        consts[signal] = probe.signal
        for _, label, at in probes:
            consts[at] = probe_for(label)
        for at, live in self.inner.items():
            consts[at] = live.code
        self.code: CodeType = code.replace(
            co_consts=tuple(consts), co_code=_skipping(code, [at for at, label, _ in probes if label not in wanted])
        )

    def remove(self, reached: Collection[Label], replaced: dict[int, tuple[CodeType, CodeType]]) -> None:
        """Jump over the probes of what is reached; `replaced` gets (old, new) code by the id of the old."""
        done = [offset for offset, label in self.probes if label in reached]
        self.probes = [(offset, label) for offset, label in self.probes if label not in reached]
        consts = list(self.code.co_consts)
        for at, live in self.inner.items():
            live.remove(reached, replaced)
            consts[at] = live.code
        if done or any(consts[at] is not self.code.co_consts[at] for at in self.inner):
            new = self.code.replace(co_consts=tuple(consts), co_code=_skipping(self.code, done))
            replaced[id(self.code)] = self.code, new
            self.code = new


def _skipping(code: CodeType, offsets: Sequence[int]) -> bytes:
    raw = bytearray(code.co_code)
    for offset in offsets:
        if raw[offset] != _NOP:
            raise RuntimeError(f"{code.co_name}: expected a NOP at {offset}; received opcode={raw[offset]}")
        raw[offset] = _SKIP
    return bytes(raw)
