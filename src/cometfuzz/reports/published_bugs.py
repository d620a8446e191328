"""The bugs of the paper, as its tables have them; theirs is the only place for these numbers.

Source: COMET (Li et al., TOSEM 2023), tables "Performance on Bug Detection" and "Analysis On Fault-Triggering
Conditions of Bugs Detected By COMET". The second lists the confirmed bugs, and a bug may be in several of its columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cometfuzz.ledger.defect import Trigger


@dataclass(frozen=True)
class Detected:
    """A column of the first table: bugs reported, and how many of them were confirmed."""

    crash: int = 0
    nan: int = 0
    inconsistency: int = 0
    confirmed: int = 0

    @property
    def total(self) -> int:
        return self.crash + self.nan + self.inconsistency


DETECTED: Mapping[str, Detected] = {
    "ONNX Runtime": Detected(crash=2, nan=2, confirmed=4),
    "MXNet": Detected(crash=4, nan=1, confirmed=1),
    "Keras-MXNet": Detected(crash=1),
    "tf2onnx": Detected(crash=4, nan=1, confirmed=4),
    "onnx2pytorch": Detected(crash=4, confirmed=1),
    "Keras": Detected(crash=8, nan=4, confirmed=10),
    "TensorFlow": Detected(inconsistency=1, confirmed=1),
    "PyTorch": Detected(),
}

TRIGGERED: tuple[tuple[str, str, tuple[Trigger, ...]], ...] = (
    ("ONNX Runtime", "11173", ("sequence", "special value")),
    ("ONNX Runtime", "11024", ("input",)),
    ("ONNX Runtime", "11010", ("special value",)),
    ("ONNX Runtime", "11241", ("sequence",)),
    ("MXNet", "20947", ("parameter", "special value")),
    ("Keras", "16348", ("parameter",)),
    ("Keras", "16273", ("parameter", "sequence")),
    ("Keras", "16158", ("special value",)),
    ("Keras", "16289", ("special value",)),
    ("Keras", "16314", ("parameter",)),
    ("tf2onnx", "1875", ("parameter", "special value")),
    ("tf2onnx", "1807", ("default",)),
    ("onnx2pytorch", "33/34", ("sequence",)),
    ("tf2onnx", "1811", ("sequence",)),
    ("Keras", "16314", ("parameter",)),
    ("Keras", "16492", ("input", "special value")),
    ("Keras", "16927", ("input",)),
    ("Keras", "16933", ("input",)),
    ("Keras", "16970", ("input", "parameter")),
    ("Keras", "17044", ("input",)),
    ("tf2onnx", "1903", ("sequence",)),
)
"""Library, issue and triggers of each row; "special value" stands for the paper's column "Other", which has what no
other column fits, NaN above all. The rows are as printed: Keras has eleven and TensorFlow none, where the first table
has ten confirmed ones and one, and issue 16314 is there twice."""
