"""Scripts are Python that a person could have written."""

import ast
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bugs import bug, finding, pooling
from trials import chain

from cometfuzz.catalogue import COUNTED
from cometfuzz.catalogue.data import NUMPY, Data, draw_data, to_tensor
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.catalogue.files import decode
from cometfuzz.draw import Draw
from cometfuzz.errors import NoScript
from cometfuzz.ir.case import Manner
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.finding import Camp
from cometfuzz.reference.bound import Expected, expect
from cometfuzz.routes.openvino import OPTIONS
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.reproducer import EXPECTING, make_script, shows
from cometfuzz.triage.running import Ran
from cometfuzz.triage.scripts.ends import tolerance
from cometfuzz.triage.scripts.keras_program import VARIANTS, keras_program
from cometfuzz.triage.scripts.readers import openvino
from cometfuzz.triage.scripts.text import array, comment, number, without_us, wrap


def test_a_one_layer_bug_fits_on_a_screen_and_says_everything() -> None:
    text = make_script(bug(pooling(), finding("keras-torch")))
    lines = text.splitlines()
    assert len(lines) < 40
    assert lines[0] == "# a title"
    assert "# Blamed: Keras, torch backend." in lines
    assert "# expected 2 within 1e-06; received 1.75" in lines
    assert 'os.environ["KERAS_BACKEND"] = "torch"' in lines
    assert 'y = keras.layers.AveragePooling1D(pool_size=4, strides=1, padding="same")(x)' in lines
    assert "Keras 3 on TensorFlow, Keras 3 on JAX agree." in text
    assert "cometfuzz" not in text
    assert max(map(len, lines)) <= 100


def test_a_wrong_stated_type_is_looked_for_in_every_output() -> None:
    """The reducer keeps one output of a layer; the one that is stated wrongly may be another."""
    case = chain((2, 3, 4), ("LSTM", {"units": 5, "return_state": True}))
    stated = finding("keras-torch", "shape", "build", "keras", failure="LSTM: expected ...")
    text = make_script(bug(case, stated))
    assert 'expected = [("float32", (2, 5)), ("float32", (2, 5)), ("float32", (2, 5))]' in text


SYMPTOMS = ("value", "crash", "death", "hang", "shape", "dtype", "nondeterminism", "nonfinite", "uninitialised")
CASES = {
    "one layer": pooling(),
    "weights": chain((2, 3), ("Dense", {"units": 2})),
    "bfloat16": chain((2, 3), ("Dense", {"units": 2}), dtype="bfloat16"),
    "several outputs": draw_layer("LSTM", 3, 5).case,
    "several inputs": draw_layer("MultiHeadAttention", 3, 1).case,
    "utilities": chain((2, 3), ("cast", {"dtype": "int32", "high": 4}), ("pad", {"paddings": ((0, 0), (1, 2))})),
}


ENDS = (
    *(("keras-torch", "run", "torch"), ("keras-jax", "run", "jax"), ("keras2-tf", "run", "tensorflow")),
    *(("tf-xla", "trace", "tensorflow"), ("keras-saved", "load", "keras"), ("tf-saved", "export", "keras")),
    *(("onnxruntime", "tf2onnx", "tf2onnx"), ("openvino", "tf2onnx", "tf2onnx"), ("keras-mxnet", "run", "mxnet")),
    *(("litert", "convert", "litert-converter"), ("torch-onnx", "torch.onnx", "torch")),
    *(("torch-export", "torch.export", "torch"), ("torch-decomposed", "run_decompositions", "torch")),
    *(("torch-export-saved", "load", "torch"), ("torch-aot-eager", "aot_eager", "torch")),
    *(("torch-inductor", "inductor", "torch"), ("torch-aotinductor", "inductor", "torch")),
    *(("torch-traced", "torch.jit", "torch"), ("openvino-saved", "load", "openvino")),
    *(("openvino-torch", "convert", "openvino"), ("openvino-export-tf", "export", "keras")),
    *(("keras-openvino", "run", "openvino"), ("keras-numpy", "run", "keras")),
    ("keras-h5", "load", "keras"),
)


OPEN = Manner(opened={"x": (0,)}, before=({"x": (5,)}, {"x": (1,)}))
MANNERS = {
    "open sizes": replace(chain((2, 3), ("Dense", {"units": 2})), manner=OPEN),
    "open crop": replace(chain((2, 3), ("crop", {"crops": ((0, 0), (1, 0))}), ("ReLU", {})), manner=OPEN),
    "a row": replace(chain((2, 3), ("Dense", {"units": 2}), ("ReLU", {})), manner=Manner(sequential=True)),
    "a model inside": replace(chain((2, 3), ("Dense", {"units": 2}), ("ReLU", {})), manner=Manner(inside=("n1",))),
    "one layer twice": replace(
        chain((2, 3), ("Dense", {"units": 3}), ("Dense", {"units": 3})), manner=Manner(shared=(("n0", "n1"),))
    ),
    "dictionaries": replace(pooling(), manner=Manner(named=True)),
    "states given": replace(chain((2, 4, 3), ("LSTM", {"units": 2})), manner=Manner(explicit=True)),
    "export": replace(pooling(), manner=Manner(exporter="export", opset=17)),
    "from_keras": replace(pooling(), manner=Manner(exporter="from_keras", opset=20)),
}


Expecting = Callable[[Graph, Data], dict[Edge, Expected]]


def made_once(make: Expecting) -> Expecting:
    """What is expected of a case is the same on every route: a hundred scripts of one case need it once."""
    made: dict[tuple[int, int], tuple[Graph, Data, dict[Edge, Expected]]] = {}  # with both, or an id could be reused

    def expecting(graph: Graph, data: Data) -> dict[Edge, Expected]:
        key = id(graph), id(data)
        if key not in made:
            made[key] = graph, data, make(graph, data)
        return made[key][2]

    return expecting


@pytest.mark.parametrize("name", [*CASES, *MANNERS])
def test_every_script_passes_ruff_as_it_comes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for held, make in EXPECTING.items():
        monkeypatch.setitem(EXPECTING, held, made_once(make))
    cases = {**CASES, **MANNERS}
    case, turn = cases[name], [*cases].index(name)
    assert decode(encode(case)) == case
    for at, (route, stage, library) in enumerate(ENDS):
        for nth, symptom in enumerate(SYMPTOMS):
            if (
                turn and (at + nth + turn) % 3
            ):  # one case has them all, of the others each any two of case, end, symptom
                continue
            if name in MANNERS and ROUTES[route].speaks != "keras3":
                continue
            found = finding(route, symptom, stage, library, failure="ValueError: no" if symptom == "crash" else "")
            (tmp_path / f"{route}-{symptom}.py").write_text(make_script(bug(case, found)))
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--output-format", "concise"]
    done = subprocess.run([*ruff, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_layer_can_be_written_in_every_way() -> None:
    for name, spec in COUNTED.items():
        cases = [draw_layer(name, 5, index).case for index in range(2)]
        for route in ("keras-tf", "keras2-tf"):
            for variant in range(VARIANTS if ROUTES[route].speaks in spec.libraries else 0):
                case = cases[variant % 2]
                program = keras_program(case.graph, draw_data(case), ROUTES[route], variant)
                for _, lines in program.engine.pieces:
                    ast.parse("\n".join(lines))


def test_a_script_compiles_with_the_options_of_the_route() -> None:
    """OpenVINO dies over some models on one thread only."""
    engine = openvino({"x": "data"}, True)
    lines = [line for _, piece in engine.pieces for line in piece]
    (options,) = (ast.literal_eval(line.partition(" = ")[2]) for line in lines if line.startswith("options = "))
    assert options == OPTIONS
    assert options["INFERENCE_NUM_THREADS"] == 1
    assert any(line.endswith('"CPU", options)') for line in lines)


def test_a_backend_of_keras_that_no_route_of_ours_has_can_be_written() -> None:
    route = ROUTES["keras-jax"]
    group = replace(route.steps[0].group, environ={"KERAS_BACKEND": "openvino"})
    other = replace(route, steps=tuple(replace(step, group=group) for step in route.steps))
    program = keras_program(pooling().graph, draw_data(pooling()), other)
    assert "import openvino" in program.engine.imports
    assert program.environ["KERAS_BACKEND"] == '"openvino"'


def test_a_script_on_jax_has_64_bits_only_where_its_model_needs_them() -> None:
    plain = chain((2, 3), ("ReLU", {}))
    policy = chain((2, 3), ("ReLU", {"policy": "float64"}))
    cast = chain((2, 3), ("cast", {"dtype": "float64"}), ("cast", {"dtype": "float32"}))
    found = [
        keras_program(case.graph, draw_data(case), ROUTES["keras-jax"]).environ.get("JAX_ENABLE_X64")
        for case in (plain, policy, cast)
    ]
    assert found == [None, '"1"', '"1"']


def test_a_module_of_several_inputs_owns_the_weights() -> None:
    """PyTorch's exporter refuses tensors with a gradient that are nobody's parameters."""
    text = make_script(bug(CASES["several inputs"], finding("torch-onnx", "crash", "torch.onnx")))
    assert "flat.model = model" in text
    assert "torch.onnx.export(\n        flat, " in text


def test_a_converted_model_is_compared_with_what_the_model_does_at_inference() -> None:
    """Without `training` Keras takes the default of the first layer that has one, and Resizing's is True."""
    case = chain((1, 1, 1, 1), ("Resizing", {}), ("BatchNormalization", {}))
    text = make_script(bug(case, finding("tf-saved", "value", "export", "keras")))
    assert "model(data, training=False)" in text


@pytest.mark.parametrize(("route", "call"), [("keras-torch", "model(data"), ("tf-graph", "given: model(given")])
def test_a_layer_that_trains_unless_told_is_told(route: str, call: str) -> None:
    for layer, end in (("RandomFlip", ", training=False)"), ("Dropout", ")")):
        assert call + end in make_script(bug(chain((2, 3, 4, 3), (layer, {})), finding(route)))


def test_states_are_reset_if_that_is_what_fails() -> None:
    case = chain((1, 2, 1), ("LSTM", {"units": 1, "stateful": True}))
    frames = ["/venv/lib/site-packages/keras/src/layers/rnn/rnn.py:328 reset_state"]
    resetting = make_script(bug(case, finding("keras-torch", "crash", evidence={"frames": frames})))
    assert "            layer.reset_states()\n    seen = " in resetting
    assert "reset" not in make_script(bug(case, finding("keras-torch", "crash")))


def test_weights_that_are_all_zero_take_one_line() -> None:
    case = chain((1, 2), ("Dense", {"units": 1}))
    node = case.graph.nodes[-1].id
    kernel, bias = np.zeros((2, 1), "f4"), np.zeros(1, "f4")
    zeros = replace(case, data={f"{node}/kernel": to_tensor(kernel), f"{node}/bias": to_tensor(bias)})
    line = "layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])"
    assert line in make_script(bug(zeros, finding("keras-torch")))
    some = replace(zeros, data={**zeros.data, f"{node}/bias": to_tensor(bias + 1)})
    text = make_script(bug(some, finding("keras-torch")))
    assert "    np.zeros((2, 1)),  # kernel\n    np.ones((1,)),  # bias\n" in text


def test_a_cast_to_the_same_dtype_drops_the_mask() -> None:
    """keras.ops.cast would give back the tensor itself, with the mask that no utility hands on."""
    text = make_script(bug(chain((2, 3), ("cast", {})), finding("keras-torch")))
    assert "y = keras.ops.squeeze(keras.ops.expand_dims(x, 0), 0)" in text


def test_only_what_is_no_default_is_named() -> None:
    case = chain((1, 4, 4, 2), ("Conv2D", {"filters": 3, "kernel_size": (2, 3)}), ("ReLU", {}))
    text = make_script(bug(case, finding("keras-torch")))
    assert "layer = keras.layers.Conv2D(filters=3, kernel_size=(2, 3))" in text
    assert "y = keras.layers.ReLU()(h1)" in text


def test_old_keras_has_other_names_and_defaults() -> None:
    case = chain((1, 4), ("LeakyReLU", {"negative_slope": 0.5}))
    assert "LeakyReLU(alpha=0.5)" in make_script(bug(case, finding("keras2-tf", library="tensorflow")))
    gru = chain((1, 4, 2), ("GRU", {"units": 1}))
    text = make_script(bug(gru, finding("keras-mxnet", library="mxnet")))
    assert 'recurrent_activation="sigmoid"' in text
    assert "reset_after=True" in text


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_number_is_read_back_as_itself(dtype: str) -> None:
    kind = NUMPY[dtype].type
    for value in Draw("numbers", dtype).bells((200,)):
        exact = kind(value * 10 ** float(Draw(float(value)).integer(-6, 4)))
        assert kind(float(number(float(exact), dtype))) == exact


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (np.zeros((2, 3)), "np.zeros((2, 3))"),
        (np.full((2, 3), 0.25), "np.full((2, 3), 0.25)"),
        (np.array([[1.0, -2.5]]), "np.array([[1.0, -2.5]])"),
        (np.array([np.nan, np.inf, -np.inf]), "np.array([np.nan, np.inf, -np.inf])"),
        (np.zeros((0, 3)), "np.zeros((0, 3))"),
        (np.array(2.0), "np.array(2.0)"),
        (np.arange(20.0).reshape(2, 10) / 4, None),
    ],
)
def test_arrays_as_text(values: np.ndarray, text: str | None) -> None:
    written = array(values, "float64")
    if text is None:
        assert written.endswith(".reshape(2, 10)")
    else:
        assert written == text


def test_a_long_line_is_broken_without_a_change() -> None:
    numbers = ", ".join(str(number) for number in range(60))
    for line in (
        f'layer = keras.layers.Thing(a="b, (c", d=[{numbers}], e="f")(x)',
        f"layer.set_weights([np.array([{numbers}])])",
        f"seen = [f(y, {numbers}) for y in model(data)]",
    ):
        lines = wrap(line)
        assert len(lines) > 2
        assert max(map(len, lines)) <= 100
        assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(line))


def test_no_text_gets_out_of_a_comment() -> None:
    hostile = 'a\nimport os\r\x0cos.system("x")\u2028# -*- coding: evil -*-\x1b[1m bold \x1b[0m'
    lines = comment(hostile)
    assert all(line.startswith("# ") for line in lines)
    assert len("".join(lines).splitlines()) == 1
    text = make_script(
        bug(pooling(), finding("keras-torch", detail=hostile), title=f"CategoryEncoding: crash {hostile}")
    )
    assert ast.dump(ast.parse(text.encode())) == ast.dump(
        ast.parse(make_script(bug(pooling(), finding("keras-torch"))).encode())
    )


def test_a_script_says_nothing_of_us_or_of_this_machine() -> None:
    detail = "Error in run: at /root/x/lib/site-packages/keras/a.py:3, scope: cometfuzz.routes.keras.Flat::/keras.b"
    text = make_script(bug(pooling(), finding("keras-torch", "crash", detail=detail)))
    assert "# Error in run: at keras/a.py:3, scope: /keras.b" in text
    assert "cometfuzz" not in text


@pytest.mark.parametrize("rest", ['File "/x/site-packages/keras/a.py", line 9, in f ** raise e', "ValueError: no"])
def test_our_frames_are_left_out_of_user_code(rest: str) -> None:
    ours = 'in user code: File "/home/me/src/cometfuzz/routes/tensorflow.py", line 55, in None * '
    seen = without_us(ours + rest)
    assert seen == "in user code: " + rest.replace("/x/site-packages/", "")


def test_a_path_that_was_cut_off_is_left_out_too() -> None:
    cut = 'in user code: File "/home/me/env/lib/python3.11/site-packages/keras/nn.py", line 8, in f File "/home/me/en'
    assert without_us(cut) == 'in user code: File "keras/nn.py", line 8, in f ...'


def test_the_tolerance_is_the_bound() -> None:
    case = chain((2, 3), ("Dense", {"units": 2}))
    ((_, expected),) = expect(case.graph, draw_data(case)).items()
    relative, absolute = map(float, tolerance(expected))
    assert expected.bound is not None
    allowed = absolute + relative * np.abs(expected.value)
    assert (allowed >= expected.bound).all()
    assert (allowed <= 1.2 * expected.bound).all()
    assert tolerance(Expected("int32", np.array([1]))) == ("0", "0")


def test_what_is_near_a_step_is_not_compared() -> None:
    case = chain((1, 2), ("Activation", {"activation": "hard_shrink"}))
    case = replace(case, data={"x": to_tensor(np.array([[0.5, 2.0]], np.float32))})
    text = make_script(bug(case, finding("keras-torch")))
    assert "close |= np.array([[True, False]])" in text


def test_a_route_that_nobody_knows_has_no_script() -> None:
    found = replace(finding("keras-torch"), camps=(Camp(("elsewhere",), "wrong"),))
    with pytest.raises(NoScript, match="elsewhere"):
        make_script(bug(pooling(), found))


CRASH = bug(pooling(), finding("keras-torch", "crash", failure="TypeError: no '...'"))


@pytest.mark.parametrize(
    ("code", "printed", "shown"),
    [
        (1, "seen: TypeError: no 'tuple'\n", True),
        (1, "seen: ValueError: no\n", False),
        (1, "", False),
        (0, "seen: no exception\n", False),
        (2, "missing: torch\n", False),
        (None, "seen: TypeError: no\n", False),
    ],
)
def test_a_script_shows_its_bug_only_by_its_own_verdict(code: int | None, printed: str, shown: bool) -> None:
    assert shows(CRASH, Ran(code, printed, "")) is shown
