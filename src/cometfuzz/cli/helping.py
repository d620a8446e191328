"""What `--help` makes of a docstring."""

import inspect
import re


def flowing(text: str) -> str:
    """Its paragraphs without the line breaks of the source, which fit no terminal; indented lines stay as they are."""
    return re.sub(r"(?<!\n)\n(?![\n ])", " ", inspect.cleandoc(text))
