"""What commands print for programs: plain JSON on stdout, no colours, no wrapping."""

import json
import sys
from typing import Any


def print_json(value: Any) -> None:
    """Write a value as JSON to stdout, keys in the order given."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
