"""Decoding: a good case comes back the same, a bad one gives one clear error that names the place."""

import json
from pathlib import Path
from typing import Any

import pytest

from cometfuzz.catalogue.files import decode, load, save
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.codec import MAX_BYTES, case_id, encode
from cometfuzz.ir.graph import Edge


def small_case() -> dict[str, Any]:
    return {
        "version": 1,
        "rng_seed": 7,
        "graph": {
            "nodes": [
                {"id": "x", "layer": "input", "params": {"dtype": "float32", "shape": [2, 3]}, "inputs": []},
                {"id": "d", "layer": "Dense", "params": {"units": 4}, "inputs": [["x", 0]]},
                {"id": "r", "layer": "ReLU", "params": {}, "inputs": [["d", 0]]},
            ],
            "outputs": [["r", 0]],
        },
        "data": {},
    }


def text(case: dict[str, Any]) -> bytes:
    return json.dumps(case).encode()


def changed(path: str, value: Any) -> bytes:
    """The small case with one place changed; "graph.nodes.1.params.units" names a place."""
    case = small_case()
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    at: Any = case
    for part in way:
        at = at[part]
    at[last] = value
    return text(case)


def test_decoding_types_every_edge_and_completes_parameters() -> None:
    case = decode(text(small_case()))
    assert case.graph.type_of(Edge("r")).shape == (2, 4)
    assert case.graph.by_id["d"].params.use_bias is True


def test_encoding_is_canonical() -> None:
    case = decode(text(small_case()))
    assert encode(decode(encode(case))) == encode(case)
    assert case_id(decode(encode(case))) == case_id(case)
    assert b" " not in encode(case)


def test_the_id_names_the_content() -> None:
    assert case_id(decode(text(small_case()))) != case_id(decode(changed("rng_seed", 8)))


def test_nodes_may_come_in_any_order() -> None:
    case = small_case()
    case["graph"]["nodes"].reverse()
    assert encode(decode(text(case))) == encode(decode(text(small_case())))


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (b"", "not a case file"),
        (b"[]", "not a case file"),
        (b"{", "not a case file"),
        (b'{"version": 1}', "graph"),
        (b"\xff\xfe", "not a case file"),
        (b'{"version": 1, "rng_seed": NaN}', "not a case file"),
        (b"[" * 100_000, "not a case file"),
        (changed("version", 2), "$.version"),
        (changed("version", "1"), "$.version"),
        (changed("surprise", 1), "surprise"),
        (changed("rng_seed", -1), "$.rng_seed"),
        (changed("rng_seed", 1.5), "$.rng_seed"),
        (changed("graph.nodes", []), "$.graph.nodes"),
        (changed("graph.nodes.1.layer", "Conv9D"), "Conv9D"),
        (changed("graph.nodes.1.layer", "LSTMCell"), "LSTMCell"),
        (changed("graph.nodes.1.id", "x"), "$.graph.nodes[1].id"),
        (changed("graph.nodes.1.id", "../etc"), "$.graph.nodes[1].id"),
        (changed("graph.nodes.1.inputs", [["nobody", 0]]), "$.graph.nodes[1].inputs[0]"),
        (changed("graph.nodes.1.inputs", [["x", 1]]), "'d'"),
        (changed("graph.nodes.1.inputs", [["x", -1]]), "$.graph.nodes[1].inputs[0]"),
        (changed("graph.nodes.1.inputs", [["r", 0]]), "cycle"),
        (changed("graph.nodes.1.inputs", [["d", 0]]), "cycle"),
        (changed("graph.nodes.1.inputs", "x"), "$.graph.nodes[1].inputs"),
        (changed("graph.nodes.1.inputs", []), "number of inputs"),
        (changed("graph.nodes.1.params.units", "four"), "units"),
        (changed("graph.nodes.1.params.units", True), "units"),
        (changed("graph.nodes.1.params.units", 2**40), "units"),
        (changed("graph.nodes.1.params.unit", 4), "unit"),
        (changed("graph.nodes.1.params.activation", {"layer": 3}), "$.graph.nodes[1].params.activation"),
        (changed("graph.nodes.1.params.activation", [[[[[[1]]]]]]), "nesting"),
        (changed("graph.nodes.0.params.shape", [2, -3]), "shape"),
        (changed("graph.nodes.0.params.shape", [10**6, 10**6]), "shape"),
        (changed("graph.nodes.0.params.dtype", "float8"), "dtype"),
        (changed("graph.outputs", []), "$.graph.outputs"),
        (changed("graph.outputs", [["nobody", 0]]), "$.graph.outputs[0]"),
        (changed("graph.outputs", [["r", 3]]), "output=3"),
        (changed("data", {"x": {"dtype": "float32", "shape": [2, 3], "bytes": "AAAA"}}), "$.data['x']"),
        (changed("data", {"x": {"dtype": "float32", "shape": [2, 3], "bytes": "!"}}), "base64"),
        (changed("data", {"x": {"dtype": "complex64", "shape": [], "bytes": ""}}), "$.data['x'].dtype"),
        (changed("data", {"x": {"dtype": "float32", "shape": [-1], "bytes": ""}}), "$.data['x'].shape"),
        (changed("data", {"y": {"dtype": "bool", "shape": [0], "bytes": ""}}), "$.data['y']"),
        (changed("data", {"x": {"dtype": "bool", "shape": [0], "bytes": ""}}), "$.data['x']"),
    ],
)
def test_bad_text_is_refused_with_the_place(bad: bytes, expected: str) -> None:
    with pytest.raises(InvalidCase) as caught:
        decode(bad)
    assert expected in str(caught.value)
    assert len(str(caught.value)) < 2000


def test_infinity_hidden_in_a_large_number_is_refused() -> None:
    with pytest.raises(InvalidCase):
        decode(text(small_case()).replace(b'"units": 4', b'"units": 1e999'))


def test_a_file_that_is_too_large_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(100 * 10**6)
    with pytest.raises(InvalidCase, match="at most"):
        load(path)
    with pytest.raises(InvalidCase, match="at most"):
        decode(b" " * (MAX_BYTES + 1))


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidCase, match="No such file"):
        load(tmp_path / "none.json")


def test_a_long_chain_in_reverse_order_is_sorted_quickly() -> None:
    case = small_case()
    chain = [{"id": f"n{i}", "layer": "ReLU", "inputs": [[f"n{i - 1}" if i else "x", 0]]} for i in range(5000)]
    case["graph"] = {"nodes": [*reversed(chain), case["graph"]["nodes"][0]], "outputs": [["n4999", 0]]}
    assert decode(text(case)).graph.nodes[-1].id == "n4999"


def test_data_overrides_survive_a_file(tmp_path: Path) -> None:
    case = small_case()
    case["data"] = {"d/bias": {"dtype": "float32", "shape": [4], "bytes": "AAAAAAAAAAAAAAAAAAAAAA=="}}
    path = tmp_path / "case.json"
    save(decode(text(case)), path)
    assert load(path).data["d/bias"].data == b"\0" * 16
