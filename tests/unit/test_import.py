"""Import of .keras files: what a graph can say is translated, everything else is refused in one line, without harm."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from keras_files import entry, functional, layer, old_entry, old_functional, old_layer, save, sequential, tensor

from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.seeds.importing import import_model
from cometfuzz.seeds.keras2_config import modernised, with_modules
from cometfuzz.seeds.keras_config import translate

SMALL = functional(
    entry([None, 6, 8]),
    layer("Dense", "dense", tensor("x"), units=8, activation="relu", use_bias=True, quantization_config=None),
    layer("Add", "add", tensor("x"), tensor("dense")),
    layer("LayerNormalization", "norm", tensor("add"), axis=[-1], epsilon=1e-6),
)


def layers(graph: Graph) -> list[str]:
    return [node.layer for node in graph.nodes]


def test_a_functional_model() -> None:
    graph = translate(SMALL).graph
    assert layers(graph) == ["input", "Dense", "Add", "LayerNormalization"]
    assert graph.by_id["add"].inputs == (Edge("x"), Edge("dense"))
    assert graph.by_id["norm"].params.epsilon == 1e-6
    assert graph.type_of(graph.outputs[0]).shape == (1, 6, 8)


def test_layers_may_be_listed_in_any_order() -> None:
    first, *rest = SMALL["config"]["layers"]
    shuffled = functional(first, *reversed(rest), outputs=["norm", 0, 0])
    assert translate(shuffled).graph.type_of(Edge("norm")).shape == (1, 6, 8)


def test_a_sequential_model_with_wrappers_and_objects_as_values() -> None:
    kernel = {"module": "keras.initializers", "class_name": "GlorotUniform", "config": {"seed": None}}
    lstm = {
        "module": "keras.layers",
        "class_name": "LSTM",
        "config": {"units": 3, "return_sequences": True, "name": "l"},
    }
    graph = translate(
        sequential(
            entry([None, 5, 3]),
            layer("Bidirectional", "both", merge_mode="concat", layer=lstm),
            layer("Dense", "dense", units=2, kernel_initializer=kernel, kernel_regularizer={"class_name": "L2"}),
        )
    ).graph
    assert graph.by_id["both"].params.layer.params.units == 3
    assert graph.by_id["dense"].params.kernel_initializer == "glorot_uniform"
    assert graph.by_id["dense"].params.kernel_regularizer == "l2"


def test_a_model_inside_a_model_is_unfolded_and_its_layers_keep_their_way() -> None:
    inner = sequential(layer("Dense", "dense", units=3), build_input_shape=[None, 4])
    inner |= {"name": "block", "inbound_nodes": [{"args": [tensor("x")], "kwargs": {"mask": None}}]}
    translated = translate(functional(entry([None, 4]), inner, layer("ReLU", "relu", tensor("block"))))
    assert layers(translated.graph) == ["input", "Dense", "ReLU"]
    assert translated.layers["dense"] == ("block", "dense")


def test_a_layer_that_is_called_twice_becomes_two_nodes() -> None:
    shared = layer("Dense", "dense", tensor("x"), units=4)
    shared["inbound_nodes"].append({"args": [tensor("dense")], "kwargs": {}})
    translated = translate(functional(entry([None, 4]), shared, outputs=["dense", 1, 0]))
    assert layers(translated.graph) == ["input", "Dense", "Dense"]
    assert set(translated.layers.values()) == {("dense",)}


def test_a_mask_stays_implicit() -> None:
    mask = layer("NotEqual", "not_equal", tensor("x"), module="keras.src.ops.numpy")
    read = {"mask": tensor("not_equal")}
    graph = translate(
        functional(
            entry([None, 7], "int64"),
            layer("Embedding", "words", tensor("x"), input_dim=50, output_dim=4, mask_zero=True),
            mask,
            layer("GRU", "gru", tensor("words"), kwargs=read, units=2),
        )
    ).graph
    assert layers(graph) == ["input", "Embedding", "GRU"]
    assert graph.inputs[0].outputs[0].high == 50


def test_a_cast_stands_where_keras_casts() -> None:
    graph = translate(
        functional(entry([None, 4]), layer("Dense", "dense", tensor("x"), units=2, dtype="float16"))
    ).graph
    assert layers(graph) == ["input", "cast", "Dense"]
    assert graph.type_of(Edge("dense")).dtype == "float16"


def test_operations_that_a_merging_layer_computes() -> None:
    added = layer("Add", "plus", tensor("x"), tensor("x"), module="keras.src.ops.numpy")
    assert layers(translate(functional(entry([None, 4]), added)).graph) == ["input", "Add"]


def test_an_operation_drops_masks() -> None:
    words = layer("Embedding", "words", tensor("x"), input_dim=50, output_dim=4, mask_zero=True)
    added = layer("Add", "plus", tensor("words"), tensor("words"), module="keras.src.ops.numpy")
    graph = translate(functional(entry([None, 7], "int64"), words, added)).graph
    assert graph.type_of(Edge("words")).masked
    assert not graph.type_of(graph.outputs[0]).masked


def test_cells_in_a_list() -> None:
    cells = [
        {"module": "keras.layers", "class_name": "LSTMCell", "config": {"units": units, "name": "c"}}
        for units in (3, 2)
    ]
    stack = {"module": "keras.layers", "class_name": "StackedRNNCells", "config": {"cells": cells, "name": "s"}}
    graph = translate(functional(entry([None, 5, 3]), layer("RNN", "rnn", tensor("x"), cell=stack))).graph
    assert [cell.params.units for cell in graph.by_id["rnn"].params.cell.params.cells] == [3, 2]


def dense(**config: Any) -> Any:
    return layer("Dense", "wide", tensor("x"), **{"units": 4, **config})


SOFTMAX = {"module": "keras.layers", "class_name": "Softmax", "config": {"axis": 1}}
"""A layer as an activation: it has parameters of its own, which its name does not say."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (functional(entry([None, 4]), layer("Lambda", "secret", tensor("x"))), "'secret'.*Lambda"),
        (functional(entry([None, 4]), layer("Mine", "own", tensor("x"), module="my.code")), "'own'.*'Mine'"),
        (functional(entry([None, 4]), layer("Dense", "odd", tensor("x"), module="os")), "'odd'.*'os'"),
        (functional(entry([None, 4]), layer("cast", "sly", tensor("x"))), "'sly'"),
        (functional(entry([None, 4]), dense(quantization_config={"mode": "int8"})), "'wide'.*quantization_config"),
        (functional(entry([None, 4]), dense(activation={"class_name": "function", "config": "f"})), "'wide'"),
        (functional(entry([None, 4]), dense(activation=SOFTMAX)), "'wide'.*activation"),
        (functional(entry([None, 4]), dense(dtype="mixed_float16")), "'wide'.*mixed_float16"),
        (functional(entry([None, 4]), dense(units=2**40)), "'wide'.*units"),
        (functional(entry([None, 4]), dense(units=-1)), "'wide'.*units"),
        (functional(entry([None, 1000, 1000, 1000, 3]), dense()), "'x'.*size"),
        (functional(entry([None, 2**20]), dense(units=2**20)), "weights"),
        (functional(entry([None, None, 4]), dense()), "'x'.*--open-size"),
        (functional(entry([None, 4]), layer("Dense", "wide", tensor("nobody"), units=1)), "'wide'.*nobody"),
        (functional(entry([None, 4]), layer("Dense", "loop", tensor("loop"), units=1)), "cycle"),
        (functional(entry([None, 4]), layer("Dropout", "d", tensor("x"), kwargs={"training": True}, rate=0.5)), "'d'"),
        (sequential(layer("Dense", "dense", units=1)), "built"),
        (sequential(), "built"),
        ({"module": "my.code", "class_name": "MyModel", "config": {}}, "MyModel"),
        ({"class_name": "Functional", "config": []}, "config"),
        ([], "Functional"),
        (b"{", "JSON"),
        (b"[" * 100_000, "JSON"),
        (b"\xff\xfe", "JSON"),
    ],
)
def test_refusals_name_the_layer(tmp_path: Path, model: Any, message: str) -> None:
    with pytest.raises(InvalidCase, match=message):
        import_model(save(tmp_path / "model.keras", model))


def test_models_within_models_cannot_multiply_without_end() -> None:
    inside = sequential() | {"name": "leaf"}
    for depth in range(6):
        calls = [{"args": [tensor("x")], "kwargs": {}}] * 50
        inside = functional(entry([None, 4]), inside | {"inbound_nodes": calls}, outputs=[inside["name"], 0, 0])
        inside |= {"name": f"level_{depth}"}
    with pytest.raises(InvalidCase, match="layer calls in all"):
        translate(inside)


def test_open_axes_take_the_given_size(tmp_path: Path) -> None:
    path = save(tmp_path / "model.keras", functional(entry([None, None, 4]), dense()))
    assert import_model(path, open_size=9).graph.inputs[0].outputs[0].shape == (1, 9, 4)


def zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", b" " * (6 * 2**20))


def truncated(path: Path) -> None:
    save(path, SMALL)
    path.write_bytes(path.read_bytes()[:-100])


def cut_in_the_middle(path: Path) -> None:
    save(path, SMALL)
    data = path.read_bytes()
    path.write_bytes(data[:200] + data[400:])


def traversal(path: Path) -> None:
    save(path, SMALL, **{"../../evil.txt": b"x"})


def absolute(path: Path) -> None:
    save(path, SMALL, **{"/etc/evil": b"x"})


def twice(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("config.json", json.dumps(SMALL))


def many_members(path: Path) -> None:
    save(path, SMALL, **{f"member{number}": b"" for number in range(5000)})


def wrong_checksum(path: Path) -> None:
    save(path, SMALL)
    path.write_bytes(path.read_bytes().replace(b'"relu"', b'"tanh"'))


def not_a_zip(path: Path) -> None:
    path.write_bytes(b"PK\5\6")


def empty_file(path: Path) -> None:
    path.write_bytes(b"")


def no_config(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", "{}")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


HOSTILE = (
    *(zip_bomb, truncated, cut_in_the_middle, traversal, absolute, twice, many_members, wrong_checksum, not_a_zip),
    *(empty_file, no_config, pipe, folder),
)


@pytest.mark.parametrize("make", HOSTILE)
def test_hostile_files_are_refused_and_leave_nothing_behind(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "model.keras"
    make(path)
    with pytest.raises(InvalidCase, match=r"model\.keras"):
        import_model(path)
    assert [found.name for found in tmp_path.iterdir()] == ["model.keras"]


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidCase, match="No such file"):
        import_model(tmp_path / "none.keras")


def test_weights_beyond_a_case_file_are_refused_before_any_child_starts(tmp_path: Path) -> None:
    model = functional(entry([None, 5000]), dense(units=4000))
    with pytest.raises(InvalidCase, match="case file"):
        import_model(save(tmp_path / "model.keras", model, b"no hdf5"), weights=True)


def damage(value: Any, draw: Draw) -> Any:
    """The value with one part of it replaced by something else, as a broken writer or an enemy would."""
    junk = [
        None,
        -1,
        2**70,
        1.5,
        "x",
        "",
        [],
        {},
        [[]],
        {"class_name": []},
        True,
        ["x", 0, 0],
        "float16",
        {"config": 3},
    ]
    if isinstance(value, dict) and value and draw.chance(0.85):
        key = draw.choice(list(value))
        return {**value, key: damage(value[key], draw)}
    if isinstance(value, list) and value and draw.chance(0.85):
        at = draw.integer(0, len(value) - 1)
        return [*value[:at], damage(value[at], draw), *value[at + 1 :]]
    return draw.choice(junk)


OLD = old_functional(
    old_entry([None, 6, 8]),
    old_layer("MultiHeadAttention", "heads", ["x", 0, 0, {"value": ["x", 0, 0]}], num_heads=2, key_dim=4),
    old_layer("Add", "add", ["x", 0, 0, {}], ["heads", 0, 0, {}]),
    old_functional(old_entry([None, 6, 8], name="y"), old_layer("Dense", "d", ["y", 0, 0], units=4))
    | {"name": "block", "inbound_nodes": [[["add", 0, 0, {}]]]},
    outputs=[["block", 1, 0]],
)


@pytest.mark.parametrize(
    ("whole", "read"),
    [
        (SMALL, translate),
        (SMALL, lambda model: translate(with_modules(model))),
        (OLD, lambda model: translate(modernised(model))),
    ],
)
def test_a_damaged_config_is_translated_or_refused_but_never_crashes(whole: Any, read: Callable[[Any], Any]) -> None:
    assert read(whole)
    refused = 0
    for index in range(1000):
        draw = Draw("damage", index)
        model = whole
        for _ in range(draw.integer(1, 3)):
            model = {**model, "config": damage(model["config"], draw)}
        try:
            read(model)
        except InvalidCase:
            refused += 1
    assert 200 < refused < 1000
