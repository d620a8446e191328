"""Frames on the wire: whole, in parts, broken, hostile."""

import os
import struct

import pytest

from cometfuzz.protocol import MAGIC, Broken, Inbox, Message, Oversized, WireTensor, receive, send


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield read, write
    for descriptor in (read, write):
        try:
            os.close(descriptor)
        except OSError:
            continue


def test_round_trip(pipe: tuple[int, int]) -> None:
    message = Message({"a": [1, None]}, [WireTensor("float32", (1, 2), b"12345678"), WireTensor("bool", (0,), b"")])
    send(pipe[1], message)
    assert receive(pipe[0]) == message


def test_messages_come_in_parts(pipe: tuple[int, int]) -> None:
    message = Message({"a": 1}, [WireTensor("int32", (1,), b"1234")])
    send(pipe[1], message)
    send(pipe[1], message)
    inbox, seen = Inbox(), []
    while len(seen) < 2:
        inbox.feed(os.read(pipe[0], 3))
        seen += [taken for taken in [inbox.take()] if taken is not None]
    assert seen == [message, message]
    assert inbox.take() is None


@pytest.mark.parametrize("header", [b"\xff\xfe", b"[]", b"{}", b'{"tensors": 3}', b'{"tensors": [1]}'])
def test_a_header_that_is_none_is_broken(header: bytes) -> None:
    inbox = Inbox()
    inbox.feed(struct.pack("<4sIQ", MAGIC, len(header), 0) + header)
    with pytest.raises(Broken):
        inbox.take()


def test_a_body_beyond_the_limit_is_refused_before_it_is_read() -> None:
    inbox = Inbox(limit=10)
    inbox.feed(struct.pack("<4sIQ", MAGIC, 2, 11))
    with pytest.raises(Oversized):
        inbox.take()


def test_end_of_stream_in_the_middle(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], struct.pack("<4sIQ", MAGIC, 50, 0) + b"half")
    os.close(pipe[1])
    with pytest.raises(Broken):
        receive(pipe[0])


@pytest.mark.parametrize("garbage", [b"Hello, I am a library\n" * 3, struct.pack("<4sIQ", MAGIC, 2**31, 0)])
def test_garbage(pipe: tuple[int, int], garbage: bytes) -> None:
    os.write(pipe[1], garbage)
    with pytest.raises(Broken):
        receive(pipe[0])


def test_nobody_reads(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    with pytest.raises(Broken):
        send(pipe[1], Message({}))
