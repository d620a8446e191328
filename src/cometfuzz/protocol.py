"""The wire between the parent and a worker: framed messages on private file descriptors.

A message is a JSON header and raw tensors. Nothing executable crosses, and nothing that a library prints can get in
between. Standard library only.

frame = b"CMF1", header length (u32), body length (u64), header (JSON, names the tensors), body (their bytes)
"""

from __future__ import annotations

import json
import os
import struct
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


class Oversized(Exception):
    """The other side sent more than the limit."""


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


class Inbox:
    """Takes bytes as they come and gives out whole messages; `limit` bounds the body of each."""

    def __init__(self, limit: int = MAX_BODY) -> None:
        self.limit = limit
        self._bytes = bytearray()

    def feed(self, part: bytes) -> None:
        self._bytes += part

    def take(self) -> Message | None:
        """The next message, or None if it is not complete yet."""
        if len(self._bytes) < _PREFIX.size:
            return None
        magic, header_size, body_size = _PREFIX.unpack_from(self._bytes)
        if magic != MAGIC or header_size > MAX_HEADER:
            raise Broken("expected a message; received something else")
        if body_size > self.limit:
            raise Oversized(f"{body_size} bytes; the limit is {self.limit}")
        at = _PREFIX.size + header_size
        end = at + body_size
        if len(self._bytes) < end:
            return None
        tensors = []
        try:
            header = json.loads(self._bytes[_PREFIX.size : at])
            for dtype, shape, size in header.pop("tensors"):
                tensors.append(WireTensor(dtype, tuple(shape), bytes(self._bytes[at : at + size])))
                at += size
        except (ValueError, TypeError, KeyError, AttributeError):
            raise Broken("expected the header of a message; received something else") from None
        del self._bytes[:end]
        return Message(header, tensors)


def receive(descriptor: int) -> Message:
    """Read one message, however long it takes."""
    inbox = Inbox()
    while (message := inbox.take()) is None:
        part = os.read(descriptor, 2**20)
        if not part:
            raise Broken("expected a message; received the end of the stream")
        inbox.feed(part)
    return message
