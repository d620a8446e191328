"""Gaps of ConvLSTM."""

from cometfuzz.routes.gaps import Gap

GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-tf",),
        layers=("ConvLSTM1D", "ConvLSTM2D"),
        when=lambda x, p: p.data_format == "channels_first" and x.dtype in ("float16", "float64"),
        raises="UnimplementedError",
        evidence="The Conv2D op currently only supports the NHWC tensor format on the CPU",
    ),
)
