"""Import of Keras 2 models: its configs in the form of Keras 3, and what it means differently refused."""

from pathlib import Path
from typing import Any

import pytest
from keras_files import layer, old_entry, old_functional, old_layer, save, tensor

from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.seeds.importing import import_model
from cometfuzz.seeds.keras2_config import with_modules
from cometfuzz.seeds.keras_config import translate

X = ["x", 0, 0, {}]


def imported(tmp_path: Path, model: Any, version: str = "2.15.0") -> Graph:
    return import_model(save(tmp_path / "model.keras", model, version=version)).graph


def layers(graph: Graph) -> list[str]:
    return [node.layer for node in graph.nodes]


def test_a_functional_model_with_calls_as_lists(tmp_path: Path) -> None:
    graph = imported(
        tmp_path,
        old_functional(
            old_entry([None, 6, 8]),
            old_layer("MultiHeadAttention", "heads", ["x", 0, 0, {"value": ["x", 0, 0]}], num_heads=2, key_dim=4),
            old_layer("Add", "add", X, ["heads", 0, 0, {}]),
            old_layer("BatchNormalization", "norm", ["add", 0, 0], axis=[2], epsilon=1e-4),
            old_layer("LeakyReLU", "leaky", ["norm", 0, 0, {}], alpha=0.25),
            old_layer(
                "LSTM", "lstm", ["leaky", 0, 0, {"training": False}], units=3, time_major=False, implementation=2
            ),
        ),
    )
    assert layers(graph) == ["input", "MultiHeadAttention", "Add", "BatchNormalization", "LeakyReLU", "LSTM"]
    assert graph.by_id["heads"].inputs == (Edge("x"), Edge("x"))
    assert graph.by_id["norm"].params.axis == 2
    assert graph.by_id["leaky"].params.negative_slope == 0.25


def test_the_calls_of_a_nested_model_are_counted_from_its_own_inputs(tmp_path: Path) -> None:
    inner = old_functional(old_entry([None, 4], name="y"), old_layer("Dense", "dense", ["y", 0, 0, {}], units=4))
    inner |= {"name": "block", "inbound_nodes": [[X], [["block", 1, 0, {}]]]}
    model = old_functional(old_entry([None, 4]), inner, old_layer("ReLU", "relu", ["block", 2, 0, {}]))
    graph = imported(tmp_path, model)
    assert layers(graph) == ["input", "Dense", "Dense", "ReLU"]
    assert graph.by_id["relu"].inputs == (Edge("dense_2"),)


@pytest.mark.parametrize("wrap", [lambda layers: layers, lambda layers: {"name": "s", "layers": layers}])
def test_a_sequential_whose_first_layer_has_the_input_shape(tmp_path: Path, wrap: Any) -> None:
    """Keras before 2.2.3 wrote the layers alone."""
    model = {
        "class_name": "Sequential",
        "config": wrap([old_layer("Dense", "dense", units=3, batch_input_shape=[None, 4])]),
    }
    graph = imported(tmp_path, model, "2.2.0")
    assert graph.inputs[0].outputs[0].shape == (1, 4)
    assert graph.by_id["dense"].outputs[0].shape == (1, 3)


@pytest.mark.parametrize(("given", "expected"), [({}, False), ({"reset_after": True}, True)])
def test_a_gru_that_does_not_say_so_resets_before_the_product(tmp_path: Path, given: Any, expected: bool) -> None:
    gru = {"class_name": "GRU", "config": {"name": "gru", "units": 3, "recurrent_activation": "sigmoid", **given}}
    model = old_functional(old_entry([None, 5, 4]), old_layer("Bidirectional", "both", X, layer=gru))
    assert imported(tmp_path, model).by_id["both"].params.layer.params.reset_after is expected


def test_operators_between_tensors(tmp_path: Path) -> None:
    plus = old_layer("TFOpLambda", "plus", function="__operators__.add")
    plus["inbound_nodes"] = [["x", 0, 0, {"y": ["x", 0, 0], "name": None}]]
    assert layers(imported(tmp_path, old_functional(old_entry([None, 4]), plus))) == ["input", "Add"]


def dense(**config: Any) -> Any:
    return old_layer("Dense", "wide", X, units=4, **config)


WORDS = old_layer("Embedding", "words", X, input_dim=9, output_dim=4, mask_zero=True, input_length=5)
BOTH = (["words", 0, 0, {}], ["words", 0, 0, {}])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (old_functional(old_entry([None, 4]), dense(activation="hard_sigmoid")), "'wide'.*0.2 x"),
        (
            old_functional(old_entry([None, 5, 4]), old_layer("LSTM", "old", X, recurrent_activation="hard_sigmoid")),
            "'old'.*0.2 x",
        ),
        (
            old_functional(old_entry([None, 5], "int32"), WORDS, old_layer("Multiply", "times", *BOTH)),
            "'times'.*masked",
        ),
        (old_functional(old_entry([None, 5], "int32"), WORDS, old_layer("Attention", "look", *BOTH)), "'look'.*mask"),
        (
            old_functional(old_entry([None, 5, 4]), old_layer("LSTM", "turned", X, time_major=True)),
            "'turned'.*time_major",
        ),
        (old_functional(old_entry([None, 9, 9, 3]), old_layer("Resizing", "small", X, height=4, width=4)), "'small'"),
        (old_functional(old_entry([None, 4]), old_layer("Lambda", "secret", X, function=["4wEAAA", None])), "'secret'"),
        (old_functional(old_entry([None, 4]), old_layer("Mine", "own", X)), "'own'.*'Mine'"),
        (old_functional(old_entry([None, 4]), old_layer("CuDNNGRU", "fast", X, units=3)), "'fast'.*CuDNNGRU"),
        (old_functional(old_entry([None, 4]), dense() | {"inbound_nodes": [[["x", 0]]]}), "'wide'.*Keras 2 writes"),
        (old_functional(old_entry([None, 4]), dense() | {"inbound_nodes": [["nobody", 0, 0]]}), "'wide'.*nobody"),
        ({"class_name": "Sequential", "config": 3}, "object"),
        ({"class_name": "Model", "config": {"layers": 3}}, "layers"),
    ],
)
def test_what_keras_2_means_differently_is_refused_with_its_name(tmp_path: Path, model: Any, message: str) -> None:
    with pytest.raises(InvalidCase, match=message):
        imported(tmp_path, model)


def test_the_same_model_of_keras_3_is_taken(tmp_path: Path) -> None:
    model = {
        "class_name": "Sequential",
        "module": "keras",
        "config": {
            "name": "s",
            "layers": [
                layer("InputLayer", "x", batch_shape=[None, 4]),
                layer("Dense", "wide", units=4, activation="hard_sigmoid"),
            ],
        },
    }
    assert layers(imported(tmp_path, model, "3.9.0")) == ["input", "Dense"]


@pytest.mark.parametrize("version", ["1.2.2", "4.0", "", "x"])
def test_other_generations_are_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(InvalidCase, match="keras_version"):
        imported(tmp_path, old_functional(old_entry([None, 4]), dense()), version)


def test_layers_and_operations_of_keras_3_without_their_module() -> None:
    model = {
        "class_name": "Functional",
        "config": {
            "layers": [
                layer("InputLayer", "x", batch_shape=[None, 5], dtype="int32"),
                layer("Embedding", "words", tensor("x"), input_dim=9, output_dim=4, mask_zero=True),
                layer("Add", "plus", tensor("words"), tensor("words")),
            ],
            "input_layers": ["x", 0, 0],
            "output_layers": ["plus", 0, 0],
        },
    }
    for entry in model["config"]["layers"]:
        del entry["module"]
    del model["config"]["layers"][2]["config"]["trainable"]  # as of an operation
    graph = translate(with_modules(model)).graph
    assert layers(graph) == ["input", "Embedding", "cast", "cast", "Add"]
    assert not graph.type_of(graph.outputs[0]).masked
