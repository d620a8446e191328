"""Campaign folders with bugs, made by hand: events through the store, hostile texts among them, without any library."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import campaigning

from cometfuzz.campaign.events import CaseDone
from cometfuzz.campaign.store import Store
from cometfuzz.catalogue.validate import assemble
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ir.graph import INPUT, Draft, Edge
from cometfuzz.oracles.finding import Camp, DataKind, Finding, Symptom
from cometfuzz.triage.bug import Blame, Bug, Script, Signature

HOSTILE = (
    "</pre></script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> "
    "' \" & <b>bold</b> {{ 7*7 }} ]]> \x1b[31mred\x1b[0m \x00 \x07 \u202eabc\u202c \ud800 "
    "| `tick` ``` [a](javascript:alert(1))"
)
HOSTILE_LINK = "javascript:document.title='owned'//https://example.org"
VERSIONS = {"keras": "3.15.1", "tensorflow": "2.21.0", "torch": "2.13.0", "onnxruntime": "1.29.0"}


def inception(blocks: int = 5) -> Case:
    """A graph with branches, a link over everything and a node with several outputs: 7 nodes for each block and 5."""
    drafts = [Draft("x", INPUT, {"shape": (1, 16, 16, 4), "dtype": "float32"}, ())]

    def add(name: str, layer: str, params: Mapping[str, Any], *inputs: str) -> str:
        drafts.append(Draft(name, layer, params, tuple(Edge(source) for source in inputs)))
        return name

    at = "x"
    for block in range(blocks):
        left = add(f"left_{block}", "Conv2D", {"filters": 4, "padding": "same"}, at)
        left = add(f"relu_{block}", "ReLU", {}, left)
        middle = add(f"pool_{block}", "MaxPooling2D", {"pool_size": (3, 3), "strides": (1, 1), "padding": "same"}, at)
        right = add(f"depth_{block}", "DepthwiseConv2D", {"padding": "same"}, at)
        right = add(f"norm_{block}", "BatchNormalization", {}, right)
        added = add(f"add_{block}", "Add", {}, left, middle)
        at = add(f"join_{block}", "Average", {}, added, right)
    at = add("over", "Add", {}, at, "left_0")
    add("flat", "Flatten", {}, at)
    add("dense", "Dense", {"units": 3}, "flat")
    add("cast", "cast", {"dtype": "float16"}, "dense")
    return Case(assemble(drafts, [Edge("cast"), Edge("over")]), 7)


def one_layer(layer: str = "Conv2D", **params: Any) -> Case:
    drafts = [
        Draft("x", INPUT, {"shape": (1, 4, 4, 1), "dtype": "float32"}, ()),
        Draft("n", layer, params, (Edge("x"),)),
    ]
    return Case(assemble(drafts, [Edge("n")]), 1)


def bug(
    library: str,
    symptom: Symptom = "crash",
    layers: Sequence[str] = ("Conv2D",),
    data_kind: DataKind = "ordinary",
    stage: str = "run",
    detail: str = "InvalidArgumentError: expected a positive stride",
    **more: Any,
) -> Bug:
    """A bug whose texts hang together."""
    original, minimal = inception(), one_layer()
    camps = (Camp(("onnxruntime", "onnxruntime-noopt"), detail), Camp(("keras-tf", "keras-torch"), "completed"))
    finding = Finding("crash", symptom, data_kind, camps, stage, library, detail, node="n", layer=layers[0])
    output = f"expected: [0.25, 0.5, 1.0]\nseen: [0.25, 0.5, nan]\n{library} 1.2.3\n"
    fields: dict[str, Any] = {
        "signature": Signature(library, stage, symptom, tuple(layers), condition="padding='same'"),
        "title": f"{library}: {symptom} in {' > '.join(layers)}",
        "data_kind": data_kind,
        "finding": replace(finding, evidence={"message": detail, "frames": ["keras/src/a.py:12", "onnx/b.py:3"]}),
        "blame": Blame(library, stage, f"runtime {library}", "All failing routes end in it, no other one does.", 0.9),
        "original": original,
        "original_id": case_id(original),
        "minimal": minimal,
        "minimal_id": case_id(minimal),
        "runs": 3,
        "shown": 3,
        "script": Script(f"import {library}\n\nprint(\"it's {library}\" if 1 < 2 else '')\n", "main", True, 1, output),
        "draft": f"# {library}: {symptom}\n\n```python\nimport {library}\n```\n",
        "versions": VERSIONS,
        "triage_s": 12.3,
    }
    return Bug(**{**fields, **more})


def hostile_bug() -> Bug:
    """Every text that a library could have a hand in tries to get out of its place."""
    made = bug("evil", "crash", ("Dense",), "special", detail=HOSTILE, known=HOSTILE_LINK)
    text = HOSTILE.replace("\ud800", "")  # a signature is hashed as UTF-8
    return replace(
        made,
        title=text,
        signature=replace(made.signature, failure=text, condition=text, library='"><script>x</script>'),
        blame=Blame(HOSTILE, HOSTILE, HOSTILE, HOSTILE, 0.5),
        script=Script(HOSTILE, HOSTILE, True, 1, f"expected: {HOSTILE}\nseen: {HOSTILE}!\n"),
        draft=HOSTILE,
        versions={HOSTILE: HOSTILE},
    )


def bugs() -> list[Bug]:
    """Bugs of every standing, data_kind and several libraries."""
    unshown = Script("print('nothing')\n", "main", False, 0, "nothing\n")
    return [
        bug("onnxruntime", "value", ("Conv2D", "ReLU")),
        bug("tf2onnx", "shape", ("Conv1DTranspose",), stage="convert"),
        bug("torch", "nonfinite", ("LayerNormalization",), "overflow"),
        bug("openvino", "death", ("MaxPooling3D",), "empty", shown=2),
        bug("openvino", "crash", ("Bidirectional",)),
        bug("keras", "crash", ("LSTM",), stage="build", known="https://github.com/keras-team/keras/issues/12345"),
        bug("litert", "value", ("UpSampling2D",), utility=True),
        bug("jax", "hang", ("SeparableConv2D",), "special", script=unshown),
        bug("tensorflow", "crash", ("GRU",), script=None, draft=""),
        hostile_bug(),
    ]


def write_campaign(folder: Path, cases: int = 60, found: Sequence[Bug] | None = None) -> Path:
    """A campaign of events as the loop sends them, with a hostile finding and the given bugs, by default all kinds."""
    with Store.create(folder, {**campaigning.SETTINGS, "note": HOSTILE}) as store:
        for event in campaigning.campaign(cases):
            store.handle(_with_ids(event) if isinstance(event, CaseDone) else event)
        for each in bugs() if found is None else found:
            store.keep(each)
    return folder


def _with_ids(event: CaseDone) -> CaseDone:
    """The real id of the case, versions of libraries, and the hostile text in the first finding."""
    name = case_id(event.case)
    parts = []
    for part in event.parts:
        results = [replace(result, versions=VERSIONS) for result in part.results]
        findings = list(part.findings)
        if event.index == 0:
            findings += [campaigning.finding(detail=HOSTILE), campaigning.finding("unsupported", detail=HOSTILE)]
        parts.append(replace(part, case_id=name, results=results, findings=findings))
    return replace(event, case_id=name, parts=parts)
