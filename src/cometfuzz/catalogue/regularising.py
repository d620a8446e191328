"""Regularising layers: dropouts, noises and penalties; in inference mode they hand their input on."""

from collections.abc import Mapping, Sequence

from cometfuzz.catalogue.spaces import DATA_FORMAT, Floats, Space
from cometfuzz.catalogue.spec import layer

RANKS = range(2, 7)
SEED = {"seed": "training only"}
NOISE_SHAPE = {"noise_shape": "training only", **SEED}


def _inactive(
    name: str, ranks: Sequence[int], params: Mapping[str, Space], excluded: Mapping[str, str], doc: str
) -> None:
    layer(
        name,
        ranks=ranks,
        params=params,
        shape=lambda x, p: x.shape,
        mask=lambda x, p: x.masked,
        excluded=excluded,
        identity=True,
        doc=f"{doc} in training; the input itself in inference.",
    )


def _rate(simplest: float = 0.5) -> dict[str, Space]:
    return {"rate": Floats(0, 1, simplest, effect="train")}


_inactive("Dropout", RANKS, _rate(), NOISE_SHAPE, "Zeroes elements at random")
_inactive("GaussianDropout", RANKS, _rate(), SEED, "Multiplies by noise around one")
_inactive("AlphaDropout", RANKS, _rate(), NOISE_SHAPE, "Dropout that keeps mean and variance")
for _axes in (1, 2, 3):
    _inactive(
        f"SpatialDropout{_axes}D",
        (_axes + 2,),
        {**_rate(), **({"data_format": DATA_FORMAT} if _axes > 1 else {})},
        SEED,
        "Zeroes whole channels at random",
    )
_inactive("GaussianNoise", RANKS, {"stddev": Floats(0, 1, 0.1, effect="train")}, SEED, "Adds noise around zero")
_inactive(
    "ActivityRegularization",
    RANKS,
    {"l1": Floats(0, 1, 0, effect="train"), "l2": Floats(0, 1, 0, effect="train")},
    {},
    "Adds a penalty on its input to the loss",
)
