"""Frames on the wire: whole, late, broken, hostile."""

import os
import struct

import pytest

from cometfuzz.execution.protocol import MAGIC, Broken, Late, Message, WireTensor, receive, send


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
    assert receive(pipe[0], 1) == message


def test_late(pipe: tuple[int, int]) -> None:
    with pytest.raises(Late):
        receive(pipe[0], 0.05)
    os.write(pipe[1], struct.pack("<4sIQ", MAGIC, 50, 0) + b"half")
    with pytest.raises(Late):
        receive(pipe[0], 0.05)


def test_end_of_stream_in_the_middle(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], struct.pack("<4sIQ", MAGIC, 50, 0) + b"half")
    os.close(pipe[1])
    with pytest.raises(Broken):
        receive(pipe[0], 1)


@pytest.mark.parametrize("garbage", [b"Hello, I am a library\n" * 3, struct.pack("<4sIQ", MAGIC, 2**31, 0)])
def test_garbage(pipe: tuple[int, int], garbage: bytes) -> None:
    os.write(pipe[1], garbage)
    with pytest.raises(Broken):
        receive(pipe[0], 1)


def test_nobody_reads(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    with pytest.raises(Broken):
        send(pipe[1], Message({}))
