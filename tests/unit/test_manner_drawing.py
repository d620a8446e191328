"""Manners that are drawn are valid, the same for the same seed, and of every kind."""

from collections import Counter

from trials import chain

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.drawing import draw_graph, draw_layer
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.manners import exchanged, manner_words, odd_fields
from cometfuzz.draw import Draw
from cometfuzz.ir.case import PLAIN, Case
from cometfuzz.ir.codec import encode
from cometfuzz.search.manners import OPSETS, mannered


def test_every_drawn_manner_is_one_that_a_case_file_may_have() -> None:
    seen: Counter[str] = Counter()
    cases = [draw_layer(name, 3, 1).case for name in LAYERS]
    cases += [Case(draw_graph(Draw("manners", index), 12), index) for index in range(40)]
    for index, case in enumerate(cases):
        other = mannered(case, Draw("m", index), exported=index % 2 == 0)
        if other is None:
            continue
        assert other.manner != PLAIN
        assert decode(encode(other)) == other
        assert mannered(case, Draw("m", index), exported=index % 2 == 0) == other
        assert (other.graph, other.rng_seed, other.data) == (case.graph, case.rng_seed, case.data)
        assert all(manner_words(other.manner))
        seen.update(odd_fields(other.manner))
        if other.manner.before:
            swapped = exchanged(other)
            assert swapped is not None
            assert decode(encode(swapped)) == swapped
    assert seen.keys() >= {"opset", "exporter", "sequential", "inside", "named", "explicit", "opened", "before"}


def test_calls_that_may_share_a_layer_do() -> None:
    case = chain((2, 3), ("Dense", {"units": 3}), ("Dense", {"units": 3}))
    drawn = [mannered(case, Draw("s", index), exported=False) for index in range(60)]
    assert any(other is not None and other.manner.shared == (("n0", "n1"),) for other in drawn)


def test_only_what_is_exported_names_an_opset_or_an_exporter() -> None:
    case = chain((2, 3), ("Dense", {"units": 3}))
    for index in range(60):
        other = mannered(case, Draw("e", index), exported=False)
        assert other is None or (other.manner.opset, other.manner.exporter) == (0, "")
    drawn = [mannered(case, Draw("e", index), exported=True) for index in range(200)]
    assert {other.manner.opset for other in drawn if other is not None} == {0, *OPSETS}
