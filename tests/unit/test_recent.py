"""What is remembered of the last few objects: asked once, bounded, never mixed up, never written to."""

import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from trials import chain

from cometfuzz.catalogue.data import draw_data, draw_inputs
from cometfuzz.ir import recent
from cometfuzz.ir.recent import Recent


class Thing:
    """Something that can be asked about; all are equal, and none can be hashed."""

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing)


def remembering() -> tuple[Recent[Thing, bytes], list[Thing]]:
    made: list[Thing] = []

    def make(thing: Thing) -> bytes:
        made.append(thing)
        return bytes(thing.size)

    return Recent(make, len), made


def test_an_object_is_asked_about_once() -> None:
    ask, made = remembering()
    one, other = Thing(2), Thing(3)
    assert [len(ask(thing)) for thing in (one, other, one, other)] == [2, 3, 2, 3]
    assert len(made) == 2


def test_the_oldest_is_forgotten_and_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MOST", 2)
    ask, made = remembering()
    things = [Thing() for _ in range(3)]
    for thing in (things[0], things[1], things[0], things[2], things[0]):
        ask(thing)
    assert len(made) == 3, "the first one was used again before the third came"
    gone = weakref.ref(things[1])
    made.clear()
    del things[1], thing
    assert gone() is None


def test_what_is_kept_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MOST_BYTES", 10)
    ask, made = remembering()
    small, large, huge = Thing(4), Thing(8), Thing(11)
    for thing in (small, huge, small, huge):
        ask(thing)
    assert [thing.size for thing in made] == [4, 11, 11], "what is too large pushes nothing out"
    ask(large)
    ask(small)
    assert [thing.size for thing in made] == [4, 11, 11, 8, 4]


def test_threads_may_ask_at_the_same_time() -> None:
    ask, _ = remembering()
    things = [Thing(size) for size in range(recent.MOST * 2)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda thing: len(ask(thing)), things * 5)) == list(range(recent.MOST * 2)) * 5


def test_tensors_that_are_shared_cannot_be_changed() -> None:
    case = chain((2, 3), ("Dense", {}))
    data = draw_data(case)
    assert draw_data(case) is data
    for array in data.arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    np.testing.assert_array_equal(draw_inputs(case)["x"], data.inputs["x"])
