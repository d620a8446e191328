"""The 32 bugs of the paper by issue number, and how a finding of a campaign is recognised as one of them.

Strictly: a bug counts as found only if a finding of a campaign on the paper's versions has its route, its layer, its
symptom and its parameters. Known are ten that show on a CPU there. Two of the others need a GPU; of the rest the paper
says no more than a word, so that nobody can say whether a finding is one of them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.relations import case_of

KERAS, GRAPH, HDF5 = "era-keras", "era-graph", "era-h5"
READERS = ("era-onnxruntime", "era-onnxruntime-noopt", "era-onnx2pytorch")

GPU = "it shows on a GPU only"
UNKNOWN = "its text could not be had, so no finding can be told to be it"
NOTEBOOK = "a notebook that could not be had, so no finding can be told to be it"

SHOWS, HIDDEN, UNTOLD = "shows here", "not on a CPU", "not known"
"""What is known of a bug on the paper's versions: it was made to show, it cannot, nobody can tell."""


@dataclass(frozen=True)
class Sighting:
    """A finding of a campaign, with the case that it is about."""

    index: int
    finding: Finding
    case: Case

    @staticmethod
    def of(index: int, finding: Finding, case: Case) -> "Sighting":
        """A finding, with the small case that it brings along if there is one."""
        return Sighting(index, finding, case_of(finding, case))

    @property
    def graph(self) -> Graph:
        return self.case.graph

    @property
    def failing(self) -> frozenset[str]:
        """The routes that fail, without the settings that they have."""
        return frozenset(route.partition("+")[0].partition("/")[0] for route in self.finding.camps[0].routes)

    @property
    def message(self) -> str:
        """What a library says; empty if it raises nothing."""
        return str(self.finding.evidence.get("message", ""))

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that it is placed in: one, or several that a library computes as one."""
        return tuple(filter(None, self.finding.layer.split(" > ")))

    @property
    def nodes(self) -> list[Node]:
        """The nodes that may be meant: the one that it is placed at; without a place, all that the message names."""
        if self.finding.node in self.graph.by_id:
            return [self.graph.by_id[self.finding.node]]
        return [node for node in self.graph.nodes if f"(type {node.layer})" in self.message]


Recognise = Callable[[Sighting], bool]


@dataclass(frozen=True)
class PaperBug:
    """One row of the authors' list.

    issue: tracker and number. count: as how many bugs the authors count it. what: layer, condition and symptom, where
    they are known. standing: whether it shows here. is_seen: what recognises it, where that is known. why: the reason
    for missing it, where none of it depends on the campaign.
    """

    issue: str
    library: str
    what: str
    standing: str = UNTOLD
    is_seen: Recognise | None = None
    why: str = UNKNOWN
    count: int = 1


@dataclass(frozen=True)
class Verdict:
    """What came of a bug: the first case of each arm that shows it, or why none does."""

    bug: PaperBug
    first: Mapping[str, int] = field(default_factory=dict)

    @property
    def found(self) -> bool:
        return bool(self.first)

    @property
    def reason(self) -> str:
        return "" if self.found else self.bug.why

    def as_plain(self) -> dict[str, Any]:
        """The form of `--json`."""
        bug = self.bug
        told = {"issue": bug.issue, "library": bug.library, "what": bug.what, "counts": bug.count}
        return {
            **told,
            "standing": bug.standing,
            "found": self.found,
            "first_case": dict(self.first),
            "why": self.reason,
        }


def verdicts(sightings: Mapping[str, Iterable[Sighting]]) -> list[Verdict]:
    """Each bug with the first case of each arm that shows it."""
    first: dict[str, dict[str, int]] = {}
    for arm, found in sightings.items():
        for sighting in found:
            for bug in BUGS:
                if sighting.finding.claims and bug.is_seen is not None and bug.is_seen(sighting):
                    seen = first.setdefault(bug.issue, {})
                    seen[arm] = min(seen.get(arm, sighting.index), sighting.index)
    return [Verdict(bug, first.get(bug.issue, {})) for bug in BUGS]


def counted(found: Iterable[Verdict], standing: str = "") -> tuple[int, int]:
    """How many bugs are found, and of how many: of all, or of those of a standing, as the authors count them."""
    chosen = [verdict for verdict in found if standing in ("", verdict.bug.standing)]
    return sum(each.bug.count for each in chosen if each.found), sum(each.bug.count for each in chosen)


def _loses_nan(layer: str) -> Recognise:
    def seen(it: Sighting) -> bool:
        symptom = it.finding.symptom in ("nonfinite", "special")
        return symptom and it.finding.data_kind == "special" and it.layers == (layer,) and KERAS in it.failing

    return seen


def _same_padding(it: Sighting) -> bool:
    """DepthwiseConv2D or SeparableConv2D with strides and dilation: not the shape that padding "same" has."""
    return it.finding.symptom in ("shape", "refusal") and any(
        node.layer in ("DepthwiseConv2D", "SeparableConv2D")
        and node.params.padding == "same"
        and max(node.params.strides) > 1
        and max(node.params.dilation_rate) > 1
        for node in [*it.nodes, it.graph.nodes[-1]]
    )


def _mixes_batch(it: Sighting) -> bool:
    """A softmax over the batch, computed in batches of another size."""
    return it.finding.symptom in ("relation", "value") and any(
        node.layer == "Softmax" and node.params.axis in (0, -it.graph.input_types(node)[0].rank) for node in it.nodes
    )


def _narrow_bias(it: Sighting) -> bool:
    """A convolution in bfloat16 whose bias is float32."""
    layers = ("Conv2D", "Conv2DTranspose", "DepthwiseConv2D", "SeparableConv2D")
    return (
        it.finding.oracle == "crash"
        and KERAS in it.failing
        and "BiasAdd" in it.message
        and any(node.layer in layers and _is_narrow(it.graph, node) for node in it.nodes)
    )


def _narrow_file(it: Sighting) -> bool:
    """A model with a kernel in bfloat16 that cannot be loaded from HDF5."""
    return (
        it.finding.oracle == "crash"
        and it.failing == {HDF5}
        and it.finding.stage == "load"
        and "No cast function available" in it.message
        and any(_is_narrow(it.graph, node) and _has_kernel(it.graph, node) for node in it.graph.nodes)
    )


def _is_narrow(graph: Graph, node: Node) -> bool:
    return any(kind.dtype == "bfloat16" for kind in graph.input_types(node))


def _has_kernel(graph: Graph, node: Node) -> bool:
    spec = CATALOGUE[node.layer]
    weights = spec.weights(spec.view(graph.input_types(node), node.params), node.params)
    return any(name.endswith("kernel") for name in weights)


def _product_of_convolution(it: Sighting) -> bool:
    """A convolution whose output is multiplied by Inf: NaN in ONNX Runtime where it is Inf."""
    return _is_multiplied(it) and not _is_clipped(it)


def _clipped_product(it: Sighting) -> bool:
    """The same before a ReLU with a largest value: NaN where it is 0 or that value."""
    return _is_multiplied(it) and _is_clipped(it)


def _is_multiplied(it: Sighting) -> bool:
    window = it.layers
    inner = [node for node in it.graph.nodes if node.layer == "scale" and node.params.value == "inf"]
    return (
        it.finding.symptom in ("nonfinite", "special")
        and it.failing <= {*READERS}
        and "scale" in window
        and any(it.graph.by_id[node.inputs[0].node].layer.startswith("Conv") for node in inner)
        and window[0].startswith("Conv")
    )


def _is_clipped(it: Sighting) -> bool:
    last = it.nodes[-1] if it.nodes else None
    return last is not None and last.layer == "ReLU" and last.params.max_value is not None


def _twice_thresholded(it: Sighting) -> bool:
    """Two ThresholdedReLU in a row, which tf2onnx cannot convert."""
    graph = it.graph
    return (
        it.finding.oracle == "crash"
        and it.finding.stage == "tf2onnx"
        and "Cannot find node with output" in it.message
        and any(
            node.layer == "ThresholdedReLU" and graph.by_id[edge.node].layer == "ThresholdedReLU"
            for node in graph.nodes
            for edge in node.inputs
        )
    )


RARE = "it takes a product with Inf behind a convolution in a model that ONNX Runtime gets, which is seldom made"
_UNSEEN = "no case of these campaigns has shown it"
_BROKEN = "Keras showed it when it was asked what it has, so models keep clear of it; no probe has come to it"

BUGS: tuple[PaperBug, ...] = (
    PaperBug("ONNX Runtime 11024", "ONNX Runtime", "Dense(units=0) > Dot: an empty tensor, dies; reported for 1.11.0"),
    PaperBug("Keras 16273", "Keras", "a parameter and a sequence: raises"),
    PaperBug(
        *("Keras 16158", "Keras", "MaxPooling2D of NaN alone: -3.4e38", SHOWS, _loses_nan("MaxPooling2D"), _UNSEEN)
    ),
    PaperBug("Keras 16289", "Keras", "a layer with its defaults: loses NaN"),
    PaperBug("onnx2pytorch 33/34", "onnx2pytorch", "a sequence: raises"),
    PaperBug(
        *("Keras 16927", "Keras", "Conv2D and its kin in bfloat16: the bias is float32, raises"),
        *(SHOWS, _narrow_bias, _BROKEN),
    ),
    PaperBug("Keras 16933", "Keras", "Conv3DTranspose of an empty tensor: dies", HIDDEN, why=GPU),
    PaperBug(
        *("ONNX Runtime 11173", "ONNX Runtime", "Conv, then a product with Inf: NaN where Inf is due"),
        *(SHOWS, _product_of_convolution, RARE),
    ),
    PaperBug("ONNX Runtime 11010", "ONNX Runtime", "Dense(relu) of NaN: a number", HIDDEN, why=GPU),
    PaperBug("ONNX Runtime 11241", "ONNX Runtime", "a sequence: raises"),
    PaperBug("MXNet 20947", "MXNet", "a parameter: loses NaN"),
    PaperBug(
        *("Keras 16348", "TensorFlow", "LSTM > Softmax over the batch: predict in batches differs"),
        *(SHOWS, _mixes_batch, "the catalogue has no softmax over the batch axis, so no model has one"),
    ),
    PaperBug(
        *("Keras 16314", "Keras", 'DepthwiseConv2D, SeparableConv2D with strides, dilation and "same": another shape'),
        *(SHOWS, _same_padding, _UNSEEN),
        count=2,
    ),
    PaperBug(
        *("tf2onnx 1875", "tf2onnx", "Conv2D, then a product with Inf, then ReLU(max_value=6): NaN where 0 and 6 are"),
        *(SHOWS, _clipped_product, RARE),
    ),
    PaperBug("tf2onnx 1807", "tf2onnx", "a layer with its defaults: raises"),
    PaperBug(
        *("tf2onnx 1811", "tf2onnx", "ThresholdedReLU > ThresholdedReLU: raises"),
        *(SHOWS, _twice_thresholded, _UNSEEN),
    ),
    PaperBug(
        *("Keras 16492", "Keras", "ConvLSTM2D of Inf with one channel: numbers, NaN with any other size"),
        *(SHOWS, _loses_nan("ConvLSTM2D")),
        "with one channel nothing is subtracted, so numbers are right by the meaning of the layer, as is NaN else",
    ),
    PaperBug("Keras 16970", "Keras", "an input and a parameter: raises"),
    PaperBug("Keras 17044", "Keras", "an input: raises"),
    PaperBug("tf2onnx 1903", "tf2onnx", "a sequence: raises"),
    PaperBug(
        *("Keras 17069", "Keras", "a layer with a kernel in bfloat16, saved as HDF5: cannot be loaded"),
        *(SHOWS, _narrow_file, _UNSEEN),
    ),
    PaperBug("MXNet 20951", "MXNet", "raises"),
    PaperBug("MXNet 20875", "MXNet", "raises"),
    PaperBug("notebook 1dS9", "not said", "raises", why=NOTEBOOK),
    PaperBug("onnx2pytorch 41", "onnx2pytorch", "pads of four axes in the order of ONNX: raises"),
    PaperBug("onnx2pytorch 39", "onnx2pytorch", "raises"),
    PaperBug("onnx2pytorch 44", "onnx2pytorch", "raises"),
    PaperBug("notebook 1Cwd", "not said", "raises", why=NOTEBOOK),
    PaperBug("Keras-MXNet 271", "Keras-MXNet", "raises"),
    PaperBug("MXNet 20805", "MXNet", "raises"),
    PaperBug("MXNet 20483", "MXNet", "raises"),
)
"""The authors' list, in its order; 31 rows for 32 bugs."""
