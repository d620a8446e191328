"""Regularising layers: in inference mode all of them hand their input on."""

from cometfuzz.catalogue import CATALOGUE
from cometfuzz.reference.call import Array, Call, meaning


@meaning(*(name for name, spec in CATALOGUE.items() if spec.identity))
def unchanged(call: Call) -> Array:
    return call.x
