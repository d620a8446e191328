"""The reference as a route of its own, in a child like all others: what it computes, rounded to the real dtypes."""

from collections.abc import Mapping

from cometfuzz.catalogue.data import Data, to_array, weight_shapes
from cometfuzz.ir.case import Tensor
from cometfuzz.protocol import WireTensor
from cometfuzz.reference.run import narrow, run
from cometfuzz.routes import QUIET, Group, Library, Route, Stage, Step, Work

_STEP = Step("reference", Group("reference", "tool", QUIET), __name__, "run", (Stage("run", Library("reference")),))
REFERENCE = Route("reference", "ours", "", (_STEP,), turn="", fuses=False)


def start(options: Mapping[str, str]) -> "ReferenceAdapter":
    """Nothing to import but ours."""
    return ReferenceAdapter()


class ReferenceAdapter:
    """Runs graphs in NumPy, in float64."""

    def versions(self) -> dict[str, str]:
        import numpy

        import cometfuzz

        return {"cometfuzz": cometfuzz.__version__, "numpy": numpy.__version__}

    def run(self, work: Work, value: None) -> list[WireTensor]:
        work.enter("run")
        graph = work.graph
        inputs = {node.id: to_array(Tensor(*tensor)) for node, tensor in zip(graph.inputs, work.inputs, strict=True)}
        weights = {
            name: dict(
                zip(weight_shapes(graph, graph.by_id[name]), (to_array(Tensor(*one)) for one in tensors), strict=True)
            )
            for name, tensors in work.weights.items()
        }
        values = run(graph, Data(inputs, weights)).values
        outputs = []
        for edge in graph.outputs:
            array = narrow(values[edge], graph.type_of(edge).dtype)
            outputs.append(WireTensor(graph.type_of(edge).dtype, array.shape, array.tobytes()))
        return outputs
