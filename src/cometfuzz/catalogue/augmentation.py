"""Augmentations of images: random in training; in inference they hand their images on."""

from collections.abc import Mapping

from cometfuzz.catalogue.fitting import FittingChoice
from cometfuzz.catalogue.regularising import SEED
from cometfuzz.catalogue.shapes import channels
from cometfuzz.catalogue.spaces import BOOLEAN_TRUE, DATA_FORMAT, Choice, Floats, Ints, Optional, Space
from cometfuzz.catalogue.spec import KERAS3, Ours, draw_dtype, draw_shape, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

TRAINS_UNLESS_TOLD = {"RandomCrop", "Pipeline"}
"""Layers that take training=True if a call does not say otherwise, with all augmentations; others take False."""

_UNSEEDED: Mapping[str, str] = {}
_RGB = {"images have three channels": Ours(lambda x, p: channels(x, p) == 3)}


def _rgb_formats(x: TensorType, p: Params) -> tuple[str, ...]:
    last, first = x.shape[-1] == 3, x.shape[1] == 3
    return ("channels_last",) * last + ("channels_first",) * first


_RGB_FORMAT = FittingChoice("channels_last", "channels_first", fit=_rgb_formats)


def _draw_rgb(draw: Draw) -> tuple[TensorType, ...]:
    batch, height, width, _ = draw_shape(draw, 4)
    shape = (batch, height, width, 3) if draw.chance(0.5) else (batch, 3, height, width)
    return (TensorType(draw_dtype(draw, FLOATS), shape),)


def _augmentation(
    name: str,
    params: Mapping[str, Space],
    doc: str,
    *,
    rgb: bool = False,
    formats: bool = True,
    excluded: Mapping[str, str] = SEED,
) -> None:
    """The block of an augmentation; `rgb`: it is defined for images of three channels only. `formats`: it asks where
    the channels are."""
    TRAINS_UNLESS_TOLD.add(name)
    layer(
        name,
        ranks=(4,),
        params={**params, **({"data_format": _RGB_FORMAT if rgb else DATA_FORMAT} if formats else {})},
        rules=_RGB if rgb else {},
        shape=lambda x, p: x.shape,
        inputs=_draw_rgb if rgb else None,
        excluded=excluded,
        libraries=(KERAS3,),
        identity=True,
        doc=f"{doc} in training; the images themselves in inference.",
    )


def _factor(low: float, high: float, simplest: float, name: str = "factor") -> dict[str, Space]:
    return {name: Floats(low, high, simplest, effect="train")}


_RANGE: dict[str, Space] = {"value_range": Choice((0, 255), (0, 1), (-1, 1), effect="train")}
_INTERPOLATION: dict[str, Space] = {"interpolation": Choice("bilinear", "nearest", effect="train")}
_FILL: dict[str, Space] = {
    "fill_mode": Choice("reflect", "constant", "wrap", "nearest", effect="train"),
    **_factor(-2, 2, 0, "fill_value"),
}
_PLACE = {**_FILL, **_INTERPOLATION}

_augmentation(
    "AugMix",
    {
        **_RANGE,
        "num_chains": Ints(1, 4, 3, effect="train"),
        "chain_depth": Ints(1, 4, 3, effect="train"),
        **_factor(0, 1, 0.3),
        **_factor(0.1, 2, 1, "alpha"),
        "all_ops": Choice(*BOOLEAN_TRUE.values, effect="train"),
        **_INTERPOLATION,
    },
    "Mixes images that went through random chains of augmentations",
    rgb=True,
)
_augmentation("CutMix", _factor(0.1, 1, 1), "Replaces a random part of an image by that of another")
_augmentation("MixUp", _factor(0.1, 1, 0.2, "alpha"), "Adds up two images, randomly weighted")
_augmentation(
    "MaxNumBoundingBoxes",
    {"max_number": Ints(1, 9, effect="train"), "fill_value": Ints(-1, 3, effect="train")},
    "Pads or cuts the list of bounding boxes that comes with images",
    formats=False,
    excluded=_UNSEEDED,
)
_augmentation(
    "RandAugment",
    {**_RANGE, "num_ops": Ints(1, 4, 2, effect="train"), **_factor(0, 1, 0.5), **_INTERPOLATION},
    "Applies random augmentations one after the other",
    rgb=True,
)
_augmentation("RandomBrightness", {**_factor(-1, 1, 0.5), **_RANGE}, "Adds a random number", formats=False)
_augmentation("RandomColorDegeneration", {**_factor(0, 1, 0.5), **_RANGE}, "Takes away colour at random", rgb=True)
_augmentation(
    "RandomColorJitter",
    {
        **_RANGE,
        **{
            f"{name}_factor": Optional(Floats(0, 1, 0.5, effect="train"))
            for name in ("brightness", "contrast", "saturation", "hue")
        },
    },
    "Changes brightness, contrast, saturation and hue at random",
    rgb=True,
)
_augmentation("RandomContrast", {**_factor(0, 1, 0.5), **_RANGE}, "Changes the contrast at random", formats=False)
_augmentation(
    "RandomElasticTransform",
    {**_factor(0, 1, 1), **_factor(0, 1, 1, "scale"), **_PLACE, **_RANGE},
    "Moves pixels a little at random",
)
_augmentation(
    "RandomErasing",
    {
        **_factor(0, 1, 1),
        "scale": Choice((0.02, 0.33), (0.1, 0.5), effect="train"),
        "fill_value": Optional(Floats(0, 1, 0, effect="train")),
        **_RANGE,
    },
    "Fills random rectangles",
)
_augmentation(
    "RandomFlip",
    {"mode": Choice("horizontal_and_vertical", "horizontal", "vertical", effect="train")},
    "Mirrors images at random",
)
_augmentation(
    "RandomGaussianBlur",
    {**_factor(0, 1, 1), "kernel_size": Choice(3, 1, 5, effect="train"), **_factor(0.25, 1, 1, "sigma"), **_RANGE},
    "Blurs images at random",
)
_augmentation("RandomGrayscale", _factor(0, 1, 0.5), "Takes away all colour at random", rgb=True)
_augmentation("RandomHue", {**_factor(0, 1, 0.5), **_RANGE}, "Turns the hue at random", rgb=True)
_augmentation("RandomInvert", {**_factor(0, 1, 1), **_RANGE}, "Inverts values at random")
_augmentation(
    "RandomPerspective",
    {**_factor(0, 1, 1), **_factor(0.1, 1, 1, "scale"), **_INTERPOLATION, **_factor(-2, 2, 0, "fill_value")},
    "Looks at images from a random side",
)
_augmentation("RandomPosterization", {"factor": Ints(1, 8, effect="train"), **_RANGE}, "Keeps some bits of each value")
_augmentation("RandomRotation", {**_factor(-1, 1, 0.5), **_PLACE}, "Turns images by a random angle")
_augmentation("RandomSaturation", {**_factor(0, 1, 0.5), **_RANGE}, "Changes the saturation at random", rgb=True)
_augmentation("RandomSharpness", {**_factor(0, 1, 0.5), **_RANGE}, "Sharpens images at random")
_augmentation(
    "RandomShear",
    {**_factor(0, 1, 0, "x_factor"), **_factor(0, 1, 0, "y_factor"), **_PLACE},
    "Shears images at random",
)
_augmentation(
    "RandomTranslation",
    {**_factor(-1, 1, 0.5, "height_factor"), **_factor(-1, 1, 0.5, "width_factor"), **_PLACE},
    "Moves images at random",
)
_augmentation(
    "RandomZoom",
    {
        **_factor(-1, 1, 0.5, "height_factor"),
        "width_factor": Optional(Floats(-1, 1, 0.5, effect="train")),
        **_PLACE,
    },
    "Makes images larger or smaller at random",
)
_augmentation(
    "Solarization",
    {**_factor(0, 1, 0, "addition_factor"), **_factor(0, 1, 0, "threshold_factor"), **_RANGE},
    "Inverts values above a random threshold",
    formats=False,
)
