"""The wire between the parent and a worker: framed messages on private file descriptors.

A message is a JSON header and raw tensors. Nothing executable crosses, and nothing that a library prints can get in
between. Standard library only.

frame = b"CMF1", header length (u32), body length (u64), header (JSON, names the tensors), body (their bytes)
"""

import json
import os
import select
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MAGIC = b"CMF1"
_PREFIX = struct.Struct("<4sIQ")
MAX_HEADER, MAX_BODY = 64 * 2**20, 2 * 2**30


class WireTensor(NamedTuple):
    """Raw little-endian bytes in C order."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


class Message(NamedTuple):
    """A JSON header and the tensors that go with it."""

    header: Mapping[str, Any]
    tensors: Sequence[WireTensor] = ()


class Broken(Exception):
    """The other side is gone or sent something that is no message."""


class Late(Exception):
    """Nothing complete arrived in time."""


def send(descriptor: int, message: Message) -> None:
    """Write one message; a reader that has gone raises Broken."""
    names = [[tensor.dtype, list(tensor.shape), len(tensor.data)] for tensor in message.tensors]
    header = json.dumps({**message.header, "tensors": names}).encode()
    body = b"".join(tensor.data for tensor in message.tensors)
    view = memoryview(_PREFIX.pack(MAGIC, len(header), len(body)) + header + body)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except (BrokenPipeError, OSError) as error:
        raise Broken(str(error)) from None


def receive(descriptor: int, limit_s: float | None = None) -> Message:
    """Read one message within `limit_s` seconds."""
    deadline = None if limit_s is None else time.monotonic() + limit_s
    magic, header_size, body_size = _PREFIX.unpack(_read(descriptor, _PREFIX.size, deadline))
    if magic != MAGIC or header_size > MAX_HEADER or body_size > MAX_BODY:
        raise Broken("expected a message; received something else")
    header = json.loads(_read(descriptor, header_size, deadline))
    body = memoryview(_read(descriptor, body_size, deadline))
    tensors, at = [], 0
    for dtype, shape, size in header.pop("tensors"):
        tensors.append(WireTensor(dtype, tuple(shape), bytes(body[at : at + size])))
        at += size
    return Message(header, tensors)


def _read(descriptor: int, size: int, deadline: float | None) -> bytes:
    parts: list[bytes] = []
    while size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise Late
        part = os.read(descriptor, min(size, 2**20))
        if not part:
            raise Broken("expected a message; received the end of the stream")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
