"""When TensorFlow's 3D convolution on CPUs is wrong: conditions that Conv3D and ConvLSTM3D share.

Only channels-last convolutions without dilation: all others take another way (XLA, or space-to-batch).
"""

from collections.abc import Sequence

Sizes = Sequence[int]


def places(sizes: Sizes, kernel: Sizes, strides: Sizes, padding: str) -> list[int]:
    """How often the kernel fits along each axis."""
    same = padding == "same"
    return [-(-n // s) if same else (n - k) // s + 1 for n, k, s in zip(sizes, kernel, strides, strict=True)]


def shifts_windows(sizes: Sizes, kernel: Sizes, strides: Sizes, padding: str) -> bool:
    """Eigen's convolution (float16, float64) pads by half of a negative number where windows skip two or more inputs.

    tf.nn.convolution(tf.constant([[[[[1.]], [[2.]], [[3.]]]]], tf.float64), tf.ones((1, 1, 1, 1, 1), tf.float64),
    (1, 3, 1), "SAME") is 2, and 1 in float32.
    """
    if padding != "same":
        return False
    counts = places(sizes, kernel, strides, padding)
    return any((m - 1) * s + k - n <= -2 for m, n, k, s in zip(counts, sizes, kernel, strides, strict=True))


def reads_stray_memory(dtype: str, channels: int, sizes: Sizes, kernel: Sizes, strides: Sizes, padding: str) -> bool:
    """oneDNN's convolution (bfloat16, float32) of one channel reads memory that nobody has set; NaN if one lies there.

    In both dtypes if a single column of several rows is made with a stride across; in bfloat16 also if the input is a
    single plane with padding before it. Found by filling freed memory with NaN before 2000 drawn convolutions.
    """
    if channels != 1 or dtype not in ("bfloat16", "float32") or kernel[2] < 2:
        return False
    counts = places(sizes, kernel, strides, padding)
    column = counts[2] == 1 and counts[1] > 1 and strides[1] == 1 and strides[2] > 1
    plane = padding == "same" and sizes[0] == 1 and kernel[0] >= 3
    return column or (dtype == "bfloat16" and plane)
