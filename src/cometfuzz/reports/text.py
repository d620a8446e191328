"""Text for people: what libraries say, made harmless for a terminal, and times."""

import re
import unicodedata

from cometfuzz.oracles.finding import Finding

MAX_TEXT = 300
"""How much of a library's text is shown at most."""

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|(?:\x1b[P\]X^_]|[\x90\x98\x9d-\x9f]).*?(?:\x07|\x1b\\|\x9c|$)"  # titles, links: up to their end
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)


def clean(text: str, encoding: str = "utf-8") -> str:
    """One line of a library's text without anything that could steer a terminal, and that the encoding can hold."""
    shown = " ".join(_ESCAPES.sub("", text[: 4 * MAX_TEXT]).split())
    shown = "".join(sign for sign in shown if unicodedata.category(sign)[0] != "C")[:MAX_TEXT]
    return shown.encode(encoding, "replace").decode(encoding)


def duration(seconds: float) -> str:
    """Minutes and seconds, as a clock shows them: 3:07, 1:02:03."""
    whole = max(0, int(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def place(finding: Finding) -> str:
    """Where a finding shows: the library, and the layer or else the stage."""
    return " ".join(part for part in (finding.library or "no library", finding.layer or finding.stage) if part)


def visible(text: str) -> str:
    """A library's text with its lines, for a page or a file: colours are dropped, other signs that one cannot see, or
    that would turn the direction of reading, are shown as escapes."""
    return "".join(_seen(sign) for sign in _ESCAPES.sub("", text))


def _seen(sign: str) -> str:
    hidden = unicodedata.category(sign)[0] == "C" and sign not in "\n\t"
    return sign.encode("unicode_escape").decode("ascii") if hidden else sign


def is_link(text: str) -> bool:
    """Whether a text is an address of the web and nothing else; `javascript:` and the like are not."""
    return re.fullmatch(r"https?://[^\s<>\"'\\]+", text) is not None


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"
