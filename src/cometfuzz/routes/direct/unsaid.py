"""Layers that are not written, with the reason. What is written only in part says why not as it is written."""

from __future__ import annotations

_AUGMENTING = "an augmentation, which in inference hands its input on: nothing is tested by it"
_COMPLEX = "ONNX' transforms of signals have another form, and few readers have them"
_DIGITS = "ONNX has no function that keeps the digits near 0"
_NAN = "a sum that counts what is no NaN takes more operators than readers would know as one"
_NO_OPERATOR = "ONNX has no such operator"
_ORDER = "ONNX has no order statistic; by TopK it would be a chain that no reader knows as one"
_SCATTER = "ONNX leaves open which of several values stays at a place, or has no such reduction"

UNSAID: dict[str, str] = {
    **dict.fromkeys(("LocallyConnected1D", "LocallyConnected2D"), "ONNX has no kernel of its own at each place"),
    **dict.fromkeys(("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"), "ONNX has no recurrent convolution"),
    **dict.fromkeys(
        (
            *("AugMix", "CutMix", "MixUp", "MaxNumBoundingBoxes", "RandAugment", "RandomBrightness"),
            *("RandomColorDegeneration", "RandomColorJitter", "RandomContrast", "RandomElasticTransform"),
            *("RandomErasing", "RandomFlip", "RandomGaussianBlur", "RandomGrayscale", "RandomHue", "RandomInvert"),
            *("RandomPerspective", "RandomPosterization", "RandomRotation", "RandomSaturation", "RandomSharpness"),
            *("RandomShear", "RandomTranslation", "RandomZoom", "Solarization"),
        ),
        _AUGMENTING,
    ),
    **dict.fromkeys(
        ("STFTSpectrogram", "MelSpectrogram", "ops.fft", "ops.fft2", "ops.ifft2", "ops.rfft", "ops.irfft"), _COMPLEX
    ),
    **dict.fromkeys(("Discretization", "Hashing", "IntegerLookup"), "a lookup, which ONNX has for strings only"),
    "Pipeline": "the types between its layers are not in the graph",
    **dict.fromkeys(("ops.expm1", "ops.log1p", "ops.erfc", "ops.sinc", "ops.logaddexp2"), _DIGITS),
    **dict.fromkeys(
        (
            *("ops.arctan2", "ops.i0", "ops.erfinv", "ops.isreal", "ops.signbit", "ops.gcd", "ops.lcm"),
            *("ops.cumprod", "ops.nancumprod", "ops.slogdet", "ops.cross", "ops.correlate", "ops.sparsemax"),
            *("ops.unfold", "ops.fold", "ops.extract_sequences", "ops.vander", "ops.in_top_k", "ops.multi_hot"),
            *("ops.histogram", "ops.image.map_coordinates", "ops.image.affine_transform"),
            *("ops.image.scale_and_translate", "ops.image.extract_patches", "ops.image.extract_patches_3d"),
            *("ops.image.gaussian_blur", "ops.image.sobel_edges", "ops.image.rgb_to_hsv", "ops.image.hsv_to_rgb"),
            *("ops.image.rgb_to_grayscale", "ops.psnr", "ops.image.ssim"),
        ),
        _NO_OPERATOR,
    ),
    **dict.fromkeys(("ops.nanmean", "ops.nanstd", "ops.nanvar", "ops.nanargmax", "ops.nanargmin"), _NAN),
    **dict.fromkeys(
        ("ops.quantile", "ops.percentile", "ops.nanquantile", "ops.nanpercentile", "ops.nanmedian"), _ORDER
    ),
    **dict.fromkeys(("ops.segment_max", "ops.segment_min", "ops.segment_prod"), _SCATTER),
    **dict.fromkeys(
        ("ops.image.resize", "ops.image.pad_images", "ops.image.crop_images", "ops.rearrange"),
        "not written here; layers or other operators say the same",
    ),
}
