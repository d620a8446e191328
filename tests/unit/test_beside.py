"""Ours beside NNSmith, without either: who is odd, what is counted, and runs that are kept."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from cometfuzz.errors import InvalidCampaign, InvalidRoute
from cometfuzz.evaluation import beside
from cometfuzz.evaluation.beside import Setting, Stored, compared, comparison_grid, finding_grid, odd_ones, ours
from cometfuzz.routes import given_files
from cometfuzz.routes.registry import ROUTES, choose


def stored(seed: int, files: int, *findings: list[object]) -> Stored:
    rows: dict[str, object] = dict.fromkeys(("models", "cpu_s", "files_per_cpu_s", "run_by_all_readers"), 1.0)
    rows |= dict.fromkeys(("operators_a_file", "operator_types", "operator_pairs"), 2)
    arm = {**rows, "signatures": {"crash": 1, "value": 0, "unsupported": 0}, "findings": list(findings)}
    return Stored(Setting(), seed, {"cometfuzz": {**arm, "files": files}, "nnsmith": {**arm, "files": 10 * files}})


def test_the_odd_reader_is_the_one_that_most_differ_from() -> None:
    one, two = [np.ones(3, "float32")], [np.zeros(3, "float32")]
    assert odd_ones({"a": one, "b": one, "c": one}) == []
    assert odd_ones({"a": one, "b": two, "c": one}) == ["b"]
    assert odd_ones({"a": one, "b": two}) == ["a or b"]
    assert odd_ones({"a": [np.array([1])], "b": [np.array([2])], "c": [np.array([1])]}) == ["b"]
    assert odd_ones({"a": one, "b": [one[0] + 1e-4], "c": [one[0].astype("float64")]}) == ["c"]


def test_all_arms_read_one_file_with_the_same_readers() -> None:
    chosen = choose(beside.READERS, ROUTES)
    mine, theirs = ours(chosen), beside.nnsmith(chosen, 7)
    assert list(mine.readers) == list(theirs.readers)
    first = {route.steps[0].name for route in theirs.routes}
    assert first == {"nnsmith"}
    assert theirs.routes[0].steps[0].options["nodes"] == "7"
    with pytest.raises(InvalidRoute, match="expected routes that read one file"):
        ours(choose("onnxruntime,keras-torch", ROUTES))


def test_a_file_travels_with_its_inputs() -> None:
    content, inputs = given_files.unpack(given_files.package(b"onnx", {"x": np.arange(3)}))
    assert content == b"onnx"
    assert inputs is not None
    assert inputs["x"].tolist() == [0, 1, 2]
    assert given_files.unpack(b"onnx") == (b"onnx", None)


def test_a_comparison_is_made_once_and_kept(tmp_path: Path) -> None:
    (tmp_path / "3.json").write_bytes(msgspec.json.encode(stored(3, 5)))
    assert compared(Setting(), 3, tmp_path, lambda arm: None) == stored(3, 5)
    with pytest.raises(InvalidCampaign, match="other settings"):
        compared(Setting(nodes=9), 3, tmp_path, lambda arm: None)
    (tmp_path / "3.json").write_text("[" * 9)
    with pytest.raises(InvalidCampaign, match="expected a comparison"):
        compared(Setting(), 3, tmp_path, lambda arm: None)


def test_tables_have_the_test_and_every_signature() -> None:
    every = [stored(seed, seed, ["crash", "onnxruntime", "load", "Fail: no", seed]) for seed in range(1, 6)]
    rows = {row[0]: row[1:] for row in comparison_grid(every)[1]}
    assert rows["files"] == ["3", "30", "5, 5", "0.00", "0.0079*"]
    assert rows["signatures: raised or died"][:2] == ["1", "1"]
    assert finding_grid(every)[1] == [["crash", "onnxruntime load Fail: no", "5", "5"]]
    assert beside.as_plain(every, "x")["not_comparable"]
