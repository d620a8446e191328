"""What a model of Keras 2 may hold: layers that mean the same in Keras 3. Everything else is refused with its name.

The ledger says where Keras 2 computes something else on purpose: its entries of the kind `choice`. A layer for which
the catalogue does not claim Keras 2 is taken if a test compares it (tests/conformance/test_import_of_keras.py); most
of them without masks, which older releases treat in ways of their own.
"""

from cometfuzz.catalogue.spec import CATALOGUE, KERAS2
from cometfuzz.errors import InvalidCase
from cometfuzz.execution.versions import general_view
from cometfuzz.ir.graph import INPUT, Graph, Node, is_utility

_WITH_MASKS = ("Activation", "Masking", "RNN")
_WITHOUT_MASKS = (
    *("Embedding", "Identity", "Reshape", "Rescaling", "MultiHeadAttention", "Attention", "AdditiveAttention"),
    *("EinsumDense", "Conv1DTranspose", "GroupNormalization", "UnitNormalization", "SpectralNormalization"),
)


def check_meaning(graph: Graph) -> None:
    """Refuse the first layer that Keras 2 understands in another way."""
    for node in graph.nodes:
        if node.layer != INPUT and not is_utility(node.layer) and (why := _objection(graph, node)):
            raise InvalidCase(f"layer {node.id!r}: expected a layer that Keras 2 and 3 share; received {why}")


def _objection(graph: Graph, node: Node) -> str:
    spec, types = CATALOGUE[node.layer], graph.input_types(node)
    if KERAS2 not in spec.libraries and node.layer not in (*_WITH_MASKS, *_WITHOUT_MASKS):
        return f"class={node.layer!r}"
    if node.layer in _WITHOUT_MASKS and any(kind.masked for kind in types):
        return f"class={node.layer!r} behind a mask"
    for rule in general_view().rules_against("keras2-tf", spec, spec.view(types), node.params):
        if rule.defect.kind == "choice":
            return f"class={node.layer!r}, where they differ: {rule.text}"
    return ""
