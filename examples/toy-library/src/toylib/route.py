"""The route to toylib: what it can be given, and the child that computes a graph with it, node by node."""

import numpy as np

from cometfuzz.routes import QUIET, Group, Library, Route, Stage, Step
from cometfuzz.routes.trackers import Tracker

LIBRARY = Library("toylib", "toylib", Tracker("https://example.org/toylib/issues"))
LAYERS = ("Dense", "LeakyReLU", "Add", "Flatten", "Softmax", "Concatenate", "AveragePooling1D")
PLAIN = {
    "Dense": {"activation": "linear", "use_bias": True},
    "Flatten": {"data_format": "channels_last"},
    "AveragePooling1D": {"data_format": "channels_last"},
}
"""Parameters that it knows one value of."""

STEP = Step(
    "toylib",
    Group("toylib", "tool", QUIET),
    "toylib.route",
    "run",
    (Stage("run", LIBRARY),),
    objection="toylib.route:objection",
)
ROUTE = Route("toylib", "toylib", "", (STEP,), fuses=False)


def objection(layer, params, types, outputs, weights):
    """Why it cannot be given a call, or nothing: so models are made of what it has."""
    if layer not in LAYERS:
        return f"toylib has no {layer}"
    if "policy" in params or any(kind.dtype not in ("float32", "float64") for kind in types):
        return "toylib computes in float32 and float64"
    wrong = [name for name, value in PLAIN.get(layer, {}).items() if params[name] != value]
    return f"toylib has no {', '.join(wrong)}" if wrong else ""


def start(options):
    """Import the library, in the child."""
    import toylib

    return Adapter(toylib)


class Adapter:
    """Computes graphs."""

    def __init__(self, library):
        self.library = library

    def versions(self):
        return {"toylib": "0.1.0"}

    def run(self, work, value):
        from cometfuzz.protocol import WireTensor
        from cometfuzz.routes.tensors import to_array

        work.enter("run")
        given = iter(work.inputs)
        values = {}
        for node in work.graph.nodes:
            if node.layer == "input":
                values[node.id, 0] = to_array(next(given))
                continue
            inputs = [values[edge] for edge in node.inputs]
            weights = [to_array(tensor) for tensor in work.weights.get(node.id, ())]
            if node.layer in LAYERS:
                with work.library():
                    results = [self.call(node.layer, node.params, inputs, weights)]
            else:
                results = glue(node, inputs, work.graph.input_types(node))
            values.update({(node.id, index): array for index, array in enumerate(results)})
        outputs = [np.ascontiguousarray(values[edge]) for edge in work.graph.outputs]
        return [WireTensor(str(array.dtype), array.shape, array.tobytes()) for array in outputs]

    def call(self, layer, params, inputs, weights):
        """A layer as the library spells it."""
        match layer:
            case "Dense":
                return self.library.dense(inputs[0], *weights)
            case "LeakyReLU":
                return self.library.leaky_relu(inputs[0], params["negative_slope"])
            case "Add":
                return self.library.add(*inputs)
            case "Flatten":
                return self.library.flatten(inputs[0])
            case "Softmax":
                return self.library.softmax(inputs[0], params["axis"])
            case "Concatenate":
                return self.library.concatenate(inputs, params["axis"])
        size = params["pool_size"][0]
        stride = (params["strides"] or params["pool_size"])[0]
        return self.library.average_pool(inputs[0], size, stride, params["padding"] == "same")


def glue(node, inputs, types):
    """What cometfuzz puts between layers so that they fit (cast, pad, crop...): no library's business."""
    from cometfuzz.reference.call import Call, evaluate
    from cometfuzz.reference.run import narrow, wide

    call = Call(node.layer, node.params, [wide(x) for x in inputs], [None] * len(inputs), {}, types, node.outputs)
    return [narrow(value, kind.dtype) for value, kind in zip(evaluate(call), node.outputs, strict=True)]
