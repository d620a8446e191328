"""Two published hash functions of short texts, on 64 bits: FarmHash64 (up to 16 bytes) and SipHash-2-4."""

from collections.abc import Iterable

WORD = 2**64 - 1
_K0, _K2 = 0xC3A5C85C97CB3127, 0x9AE16A3B2F90404F


def _turned_left(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & WORD


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _mixed(value: int) -> int:
    return value ^ (value >> 47)


def _joined(left: int, right: int, factor: int) -> int:
    mixed = _mixed(((left ^ right) * factor) & WORD)
    return (_mixed(((right ^ mixed) * factor) & WORD) * factor) & WORD


def farm_hash(data: bytes) -> int:
    """FarmHash64."""
    size, factor = len(data), _K2 + 2 * len(data)
    assert size <= 16, "expected a short text"
    if size >= 8:
        first, last = (_number(data[:8]) + _K2) & WORD, _number(data[-8:])
        left = _turned_left(last, 64 - 37) * factor + first
        right = (_turned_left(first, 64 - 25) + last) * factor
        return _joined(left & WORD, right & WORD, factor)
    if size >= 4:
        return _joined((size + (_number(data[:4]) << 3)) & WORD, _number(data[-4:]), factor)
    if size == 0:
        return _K2
    ends = data[0] + (data[size // 2] << 8), size + (data[-1] << 2)
    return (_mixed(((ends[0] * _K2) ^ (ends[1] * _K0)) & WORD) * _K2) & WORD


def _sip_rounds(state: list[int], count: int) -> None:
    for _ in range(count):
        a, b, c, d = state
        a, c = (a + b) & WORD, (c + d) & WORD
        b, d = _turned_left(b, 13) ^ a, _turned_left(d, 16) ^ c
        a = _turned_left(a, 32)
        c, a = (c + b) & WORD, (a + d) & WORD
        b, d = _turned_left(b, 17) ^ c, _turned_left(d, 21) ^ a
        state[:] = a, b, _turned_left(c, 32), d


def sip_hash(data: bytes, key: Iterable[int]) -> int:
    """SipHash-2-4 with a key of two words."""
    first, second = key
    text = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    state = [word ^ part for word, part in zip(text, (first, second, first, second), strict=True)]
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for start in range(0, len(padded), 8):
        word = _number(padded[start : start + 8])
        state[3] ^= word
        _sip_rounds(state, 2)
        state[0] ^= word
    state[2] ^= 0xFF
    _sip_rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]
