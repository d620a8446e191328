"""Signatures, known issues, and what counts as the same bug."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from triaging import crash_of
from trials import chain

from cometfuzz.errors import InvalidConfig
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.triage.bug import Blame, Bug, Signature
from cometfuzz.triage.known import KnownIssue, known_as, load_known
from cometfuzz.triage.signature import condition_of, covers, failure_of, kin, needs_utility, same_bug, sign
from cometfuzz.triage.triage import made_wrong

BLAME = Blame("tf2onnx", "tf2onnx", "converter tf2onnx", "why", 0.9)
WRONG = Finding("value", "value", "ordinary", (Camp(("openvino",), "x"),), "run", "openvino", "d", "n0", "Conv2D")


def condition(case: Case) -> str:
    return ", ".join(fact.text for fact in condition_of(case.graph))


def text_of(issue: KnownIssue | None) -> str:
    return "" if issue is None else issue.text


def bug_of(case: Case, finding: Finding = WRONG) -> Bug:
    signature = sign(finding, BLAME, case.graph)
    return Bug(signature, "", finding.data_kind, finding, BLAME, case, "", case, "", 3, 3)


def test_the_condition_is_what_differs_from_the_simplest() -> None:
    assert condition(chain((1, 2, 2, 1), ("Conv2D", {}))) == ""
    case = chain((1, 2, 2, 1), ("Conv2D", {"kernel_size": (2, 1), "padding": "same"}), dtype="float16")
    assert condition(case) == "padding='same', kernel_size, float16"
    assert condition(chain((1, 1, 1, 1), ("Softmax", {"axis": -2}))) == "axis, rank 4"
    inner = Inner("GRU", Params({}))
    assert condition(chain((1, 1, 1), ("Bidirectional", {"layer": inner, "merge_mode": "ave"}))) == (
        "layer=GRU, merge_mode='ave'"
    )


def test_a_signature_has_layers_in_order_and_a_stable_id() -> None:
    case = chain((1, 2), ("cast", {"dtype": "float16"}), ("Dense", {}))
    signature = sign(WRONG, BLAME, case.graph)
    assert signature.layers == ("cast", "Dense")
    assert signature.key == "tf2onnx | tf2onnx | value | cast > Dense |  | dtype='float16', float16"
    assert len(signature.id) == 10
    assert needs_utility(case.graph)
    assert not needs_utility(chain((1, 2), ("Dense", {})).graph)


def test_special_data_belongs_to_the_condition() -> None:
    graph = chain((1, 2), ("ReLU", {})).graph
    assert sign(replace(WRONG, data_kind="special"), BLAME, graph).condition == "special data"
    assert sign(replace(WRONG, data_kind="overflow"), BLAME, graph).condition == ""


@pytest.mark.parametrize(
    ("frames", "failure"),
    [
        (
            [
                "/a/lib/python3.11/site-packages/keras/src/ops/nn.py:12 conv",
                "/x/site-packages/torch/_ops.py:1 __call__",
            ],
            "RuntimeError in keras/src/ops/nn.py conv",
        ),
        (["/home/me/cometfuzz/routes/keras.py:9 build"], "RuntimeError: no"),
        ([], "RuntimeError: no"),
    ],
)
def test_an_exception_is_named_by_its_innermost_telling_frame(frames: list[str], failure: str) -> None:
    assert failure_of(replace(crash_of("keras-tf"), evidence={"frames": frames})) == failure


def biases(layer: str) -> str:
    around = (
        f"Exception encountered when calling {layer}.call(). \x1b[1m",
        f"\x1b[0m Arguments received by {layer}.call(): x",
    )
    return f"Error in run: {around[0]}{{{{function_node __w}}}} Biases must be 1D: [0,2] [Op:BiasAdd] name: {around[1]}"


def test_a_converter_that_fails_in_the_same_words_over_one_operator_is_one_bug_whatever_the_layer() -> None:
    words = "InferenceError: (...): Inferred shape and existing shape differ in dimension #: (...) vs (...)"
    where, why = "(op_type:Add, node name: a1)", "Inferred shape and existing shape differ in dimension 2: (2) vs (1)"
    over_add = f"InferenceError in tf2onnx: {where}: {why}"
    found = replace(WRONG, symptom="crash", library="tf2onnx", stage="tf2onnx", failure=words, detail=over_add)
    add, other = bug_of(chain((1, 2, 1), ("Rescaling", {})), found), chain((1, 2, 1), ("UnitNormalization", {})).graph
    assert covers(add, replace(found, detail=over_add.replace("op_type:Add", "op_type:Mul")), other)
    assert not covers(add, replace(found, detail=over_add.replace("op_type:Add", "op_type:Conv")), other)
    assert covers(add, replace(found, detail=f"{over_add} (op_type:Conv, node name: b): null"), other)
    assert not covers(add, replace(found, failure="KeyError: '...'", detail="KeyError in tf2onnx: 'a'"), other)
    keras = replace(add, blame=replace(BLAME, role="Keras, jax backend"))
    assert not covers(keras, found, other)
    assert covers(
        replace(keras, finding=replace(found, detail=biases("Add"))), replace(found, detail=biases("ReLU")), other
    )
    assert not covers(replace(add, data_kind="empty"), found, other)
    vague = replace(found, failure="KeyError: '...'", detail="KeyError in tf2onnx: 'a'")
    assert not covers(bug_of(add.minimal, vague), vague, other)


def test_what_onednn_refuses_is_one_bug_whatever_the_layer() -> None:
    refused = "MXNetError: could not create a descriptor for a pooling forward propagation primitive"
    found = replace(WRONG, symptom="crash", library="mxnet", failure=refused, detail=f"MXNetError in run: {refused}")
    bug = replace(
        bug_of(chain((1, 2, 1), ("AveragePooling1D", {})), found), blame=replace(BLAME, role="front end keras-mxnet")
    )
    pooling = chain((1, 2, 1), ("MaxPooling1D", {})).graph
    assert covers(bug, found, pooling)
    assert not covers(bug, replace(found, detail=found.detail.replace("pooling", "convolution")), pooling)


def test_what_one_check_of_a_runtime_refuses_is_one_bug_whatever_is_around_it() -> None:
    """The optimiser of ONNX Runtime needs layers before and behind, which may be any that transpose."""
    failure = "Fail: /src/upsamplebase.h:# UpsampleBase"
    found = replace(
        WRONG,
        symptom="crash",
        library="onnxruntime",
        stage="load",
        failure=failure,
        detail="Fail in load: /src/upsamplebase.h:314 UpsampleBase",
        node="",
        layer="",
    )
    linear = ("UpSampling2D", {"data_format": "channels_first", "interpolation": "bilinear"})
    bug = bug_of(chain((1, 2, 2, 2), ("MaxPooling2D", {}), linear, ("Conv2D", {})), found)
    transposed = ("Conv2DTranspose", {"kernel_size": (1, 2)})
    assert covers(bug, found, chain((1, 2, 2, 2), transposed, linear, transposed).graph)
    assert not covers(bug, found, chain((1, 2, 2, 2), transposed, ("UpSampling2D", {}), transposed).graph)
    assert not covers(bug, replace(found, failure="Fail: /src/pool.h:# Pool"), bug.minimal.graph)


def test_one_condition_within_the_other_is_one_bug() -> None:
    one = Signature("l", "s", "value", ("Conv2D",), condition="padding='same'")
    assert same_bug(one, replace(one, condition="kernel_size, padding='same'"))
    assert same_bug(one, replace(one, layers=("Conv3D",)))
    assert not same_bug(one, replace(one, condition="dilation_rate"))
    assert not same_bug(one, replace(one, stage="t"))
    assert not same_bug(one, replace(one, layers=("Conv2DTranspose",)))
    assert kin(("Conv2D", "Dense")) == ("Conv#D", "Dense")


def test_a_known_bug_covers_what_meets_its_condition() -> None:
    bug = bug_of(chain((1, 2, 2, 1), ("Conv2D", {"kernel_size": (2, 1), "padding": "same"})))
    same = chain((2, 5, 5, 3), ("Conv2D", {"kernel_size": (4, 4), "padding": "same", "filters": 7}), ("ReLU", {}))
    assert covers(bug, WRONG, same.graph)
    other = chain((2, 5, 5, 3), ("Conv2D", {"kernel_size": (4, 4)}), ("ReLU", {}))
    assert not covers(bug, WRONG, other.graph)
    assert not covers(bug, replace(WRONG, library="litert"), same.graph)
    assert covers(bug, replace(WRONG, symptom="nonfinite"), same.graph)
    assert not covers(bug, replace(WRONG, symptom="shape"), same.graph)
    declared = replace(bug, finding=replace(bug.finding, defect="one"))
    assert covers(declared, replace(WRONG, defect="one"), same.graph)
    assert not covers(declared, replace(WRONG, defect="two"), same.graph), "declared apart"
    inside = Inner("Conv2D", Params({"kernel_size": (2, 2), "padding": "same"}))
    wrapped = chain((1, 2, 4, 4, 1), ("TimeDistributed", {"layer": inside}))
    assert covers(bug, replace(WRONG, layer="TimeDistributed"), wrapped.graph)


def test_a_bug_that_needs_a_mask_covers_only_what_has_one() -> None:
    lstm = ("LSTM", {"units": 1})
    bug = bug_of(chain((1, 2, 1), ("Masking", {}), lstm), replace(WRONG, node="n1", layer="LSTM"))
    masked = chain((1, 2, 1), ("ReLU", {}), ("Masking", {}), lstm)
    assert covers(bug, replace(WRONG, node="n2", layer="LSTM"), masked.graph)
    plain = chain((1, 2, 1), ("ReLU", {}), ("ReLU", {}), lstm)
    assert not covers(bug, replace(WRONG, node="n2", layer="LSTM"), plain.graph)


def test_an_activation_is_known_wherever_it_is() -> None:
    bug = bug_of(chain((1, 2), ("Activation", {"activation": "softsign"})))
    assert covers(bug, WRONG, chain((1, 3, 3, 1), ("Conv2D", {"activation": "softsign"})).graph)
    assert not covers(bug, WRONG, chain((1, 3, 3, 1), ("Conv2D", {"activation": "tanh"})).graph)


def test_an_activation_that_is_a_layer_too_is_known_as_either() -> None:
    layer, named = chain((1, 2), ("Softmax", {})), chain((1, 2), ("Activation", {"activation": "softmax"}))
    inside = chain((1, 2, 1), ("GRU", {"activation": "softmax"}))
    other = chain((1, 2, 1), ("GRU", {"activation": "relu"}))
    for bug in map(bug_of, (layer, named)):
        assert all(covers(bug, WRONG, case.graph) for case in (layer, named, inside))
        assert not covers(bug, WRONG, other.graph)
    assert not covers(bug_of(chain((1, 2), ("ReLU", {"max_value": 1.0}))), WRONG, other.graph)


def test_a_separable_convolution_is_a_depthwise_one_too() -> None:
    depthwise = chain((1, 2, 2, 1), ("DepthwiseConv2D", {"kernel_size": (1, 2), "strides": (1, 2)}))
    bug = bug_of(depthwise, replace(WRONG, layer="DepthwiseConv2D"))
    found = replace(WRONG, layer="SeparableConv2D")
    odd = {"kernel_size": (1, 2), "strides": (1, 2), "data_format": "channels_first"}
    assert covers(bug, found, chain((1, 1, 2, 2), ("SeparableConv2D", odd)).graph)
    assert not covers(bug, found, chain((1, 1, 2, 2), ("SeparableConv2D", {"kernel_size": (1, 2)})).graph)


@pytest.mark.parametrize(("file", "known"), [("layers/rnn/rnn.py:3", True), ("backend/torch/rnn.py:3", False)])
def test_what_fails_in_a_layer_of_keras_is_known_on_every_backend(file: str, known: bool) -> None:
    frames = {"frames": [f"/a/site-packages/keras/src/{file} reset_state"]}
    crash = replace(crash_of("keras-tf"), evidence=frames)
    case = chain((1, 2, 1), ("LSTM", {"stateful": True}))
    elsewhere = replace(crash, library="torch", stage="trace", failure="RuntimeError: in user code")
    assert covers(bug_of(case, crash), crash, case.graph)
    assert covers(bug_of(case, crash), elsewhere, case.graph) == known
    assert not covers(bug_of(case, crash), replace(elsewhere, evidence={}), case.graph)
    assert not covers(bug_of(case, crash), elsewhere, chain((1, 2, 1), ("LSTM", {})).graph)


def test_what_a_layer_of_keras_says_is_known_where_its_frames_are_lost() -> None:
    """PyTorch's own frames hide those of the layer."""
    said = "ValueError: Exception encountered when calling Softmax.call(). The mask must fit"
    frames = {"frames": ["/a/site-packages/keras/src/layers/activations/softmax.py:67 call"]}
    crash = replace(crash_of("keras-tf"), evidence=frames, failure=said)
    case = chain((1, 2), ("Softmax", {}))
    lost = replace(crash, library="torch", evidence={"frames": ["/a/site-packages/torch/nn/modules/module.py:9 f"]})
    assert covers(bug_of(case, crash), lost, case.graph)
    assert not covers(bug_of(case, crash), replace(lost, failure=said.replace("mask", "axis")), case.graph)
    assert not covers(bug_of(case, lost), crash, case.graph)


def test_a_crash_is_known_anywhere_if_the_layer_did_not_matter() -> None:
    crash = replace(crash_of("keras-tf"), data_kind="empty")
    bug = bug_of(chain((1, 0), ("ReLU", {})), crash)
    dense = chain((0, 3), ("Dense", {}))
    assert covers(bug, crash, dense.graph)
    assert covers(bug, replace(crash, data_kind="special"), dense.graph)
    assert not covers(bug, replace(crash, data_kind="ordinary"), chain((1, 3), ("Dense", {})).graph)
    assert not covers(bug_of(chain((1, 0), ("Softmax", {})), crash), crash, dense.graph)


ISSUES = """
[[issue]]
link = "https://example.org/1"
note = "mended in 9.9"
library = "tf2*"
layers = "Conv?D"
condition = "*padding='same'*"

[[issue]]
note = "everybody knows"
library = "openvino"
failure = "RuntimeError*"
"""


def test_known_issues_are_patterns(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(ISSUES)
    issues = load_known(path)
    case = chain((1, 2, 2, 1), ("Conv2D", {"padding": "same"}))
    signature = sign(WRONG, BLAME, case.graph)
    assert text_of(known_as(issues, signature)) == "https://example.org/1: mended in 9.9"
    assert known_as(issues, replace(signature, condition=""), early=True) is None
    assert known_as(issues, replace(signature, layers=("Dense",))) is None
    crash = Signature("openvino", "load", "crash", (), "RuntimeError: no")
    assert text_of(known_as(issues, crash, early=True)) == "everybody knows"
    assert known_as(issues, replace(crash, failure="ValueError: no"), early=True) is None
    pooling = Signature("tensorflow", "run", "nonfinite", ("MaxPooling3D",), "", "special data")
    assert "125965" in text_of(known_as(issues, pooling, early=True))  # what the data is like is known at once
    assert known_as(issues, replace(pooling, condition=""), early=True) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[issue]]\nlibrary = 'x'\n", "expected a link or a note"),
        ("[[issue]]\nnote = 'x'\n", "expected a pattern"),
        ("[[issue]]\nnote = 'x'\nlayer = 'y'\n", "unknown field"),
        ("[[issue", "mine.toml"),
    ],
)
def test_a_broken_file_is_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InvalidConfig, match=message):
        load_known(path)
    with pytest.raises(InvalidConfig, match="nowhere"):
        load_known(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("said", "signature", "other"),
    [
        (
            "tensorflow-onnx/issues/2337",
            Signature("tf2onnx", "tf2onnx", "crash", ("cast",), "DeclaredOtherwise: expected # in #; received dtype=#"),
            {"failure": "ValueError in tf2onnx/tfonnx.py process"},
        ),
        (
            "pytorch/issues/32282",
            Signature("torch", "torch.onnx", "crash", ("pad", "LayerNormalization"), "SymbolicValueError in x.py f"),
            {"layers": ("pad", "BatchNormalization")},
        ),
        (
            "torch-pad-averagepooling-same-paddings-crash",
            Signature("torch", "torch.onnx", "crash", ("pad", "MaxPooling1D"), "SymbolicValueError in x.py f"),
            {"layers": ("MaxPooling1D",)},
        ),
        (
            "torch-convtranspose-log-sigmoid-value",
            Signature("torch", "torch.onnx", "value", ("Conv3DTranspose",), "", "activation='log_sigmoid'"),
            {"condition": "activation='sigmoid'"},
        ),
        (
            "tensorflow/issues/125965",
            Signature("tensorflow", "run", "nonfinite", ("MaxPooling3D",), "", "pool_size, special data"),
            {"condition": "pool_size"},
        ),
        (
            "tensorflow/issues/125965",
            Signature("tensorflow", "run", "nonfinite", ("MaxPooling1D",), "", "special data"),
            {"library": "openvino"},
        ),
        (
            "tensorflow-xla-fast-min-max",
            Signature("tensorflow", "run", "nonfinite", ("GlobalMaxPooling1D",), "", "special data"),
            {"library": "onnx2torch"},
        ),
        (
            "openvino-softplus-accuracy",
            Signature("openvino", "load", "accuracy", ("Activation",), "", "activation='log_sigmoid', rank 3"),
            {"condition": "activation='sigmoid', rank 3"},
        ),
        (
            "openvino-shared-concat-conv-uninitialised",
            Signature("openvino", "load", "nonfinite", ("Conv3DTranspose", "Concatenate"), "", "float16, axis, rank 5"),
            {"layers": ("Conv3DTranspose", "Add")},
        ),
        (
            "pytorch/issues/157237",
            Signature(
                "keras", "build", "nonfinite", ("SeparableConv2D",), "", "padding='same', bfloat16, special data"
            ),
            {"condition": "padding='same', special data"},
        ),
        (
            "keras-resizing-batchnormalization-rank4-value",
            Signature("keras", "export", "value", ("CenterCrop", "AdditiveAttention"), "", "dropout"),
            {"layers": ("CenterCrop",)},
        ),
        (
            "keras-resizing-batchnormalization-rank4-value",
            Signature("keras", "export", "nondeterminism", ("Rescaling", "Resizing", "Dropout"), "", "rate"),
            {"stage": "build"},
        ),
        (
            "keras/pull/23093",
            Signature("all libraries", "", "nonfinite", ("UnitNormalization",), "", "float16"),
            {"condition": "rank 3"},
        ),
        (
            "keras-mxnet-dense-float16-crash",
            Signature("keras-mxnet", "build", "crash", (), "AssertionError: Redefinition of variable #/#"),
            {"failure": "AssertionError: no"},
        ),
        (
            "keras-tf-resizing-pad-to-aspect-ratio-true-antialia-nonfinite",
            Signature("keras", "build", "nonfinite", ("Resizing",), "", "width, bfloat16, special data"),
            {"condition": "width, bfloat16"},
        ),
    ],
)
def test_the_issues_that_are_shipped_say_what_they_mean(said: str, signature: Signature, other: dict[str, Any]) -> None:
    assert said in text_of(known_as(load_known(), signature))
    assert known_as(load_known(), replace(signature, **other)) is None


def test_readers_that_fail_over_one_bad_file_are_one_bug() -> None:
    """Each says it in its own words; whoever is to blame made the file."""
    case = chain((1, 3), ("Dense", {}))
    blamed = replace(BLAME, library="tf2onnx", stage="tf2onnx")
    texts = {"onnxruntime": "Fail: cannot reshape", "onnx": "ValueError: size", "tf2onnx": "Fail: cannot reshape"}
    found = [replace(crash_of("openvino"), library=name, stage="run", failure=text) for name, text in texts.items()]
    found[2] = replace(found[2], stage="tf2onnx")
    bugs = [
        Bug(sign(each, blamed, case.graph), "", "ordinary", each, blamed, case, "", case, "", 3, 3) for each in found
    ]
    assert made_wrong(bugs[0], bugs[1])
    assert not made_wrong(bugs[0], bugs[2]), "it raised by itself"
    other = replace(bugs[1], blame=replace(blamed, library="keras"))
    assert not made_wrong(bugs[0], other)


def test_what_is_wrong_and_contradicts_itself_is_one_bug() -> None:
    case = chain((2, 4, 4, 1), ("Conv2D", {"padding": "same"}))
    bug = bug_of(case)
    contradiction = replace(WRONG, symptom="relation", failure="a row by itself")
    assert covers(bug, contradiction, case.graph)
    assert not covers(bug, replace(contradiction, evidence={"raises": True}), case.graph)
    assert not covers(bug, replace(contradiction, library="onnxruntime"), case.graph)
    assert not covers(bug, contradiction, chain((2, 4, 4, 1), ("Conv2D", {"padding": "valid"})).graph)
    assert not covers(bug_of(case, contradiction), WRONG, case.graph)
