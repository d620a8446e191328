"""What `--help` makes of a docstring."""

import inspect
import re


def flowing(text: str) -> str:
    """Its paragraphs without the line breaks of the source, which fit no terminal; indented lines stay as they are.

    Help is markup: a name in brackets, as in `pip install cometfuzz[cluster]`, would be taken for a style and left out.
    """
    joined = re.sub(r"(?<!\n)\n(?![\n ])", " ", inspect.cleandoc(text))
    return re.sub(r"(?<!\\)\[(?=[a-z#/@])", r"\\[", joined)
