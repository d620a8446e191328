"""The live page itself: one document without anything from elsewhere, which events then fill."""

from collections.abc import Sequence
from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

import cometfuzz
from cometfuzz.reports.html import environment, policy_of

FRAMED_BY_NOBODY = "frame-ancestors 'none'"


def live_page(names: Sequence[str]) -> tuple[bytes, str]:
    """The page for campaigns of these names, and its content security policy."""
    made = _environment()
    loader = made.loader
    assert loader is not None
    style = "".join(loader.get_source(made, name)[0] for name in ("report.css", "live.css"))
    script = loader.get_source(made, "live.js")[0]
    policy = f"{policy_of(style, script)}; connect-src 'self'"
    text = made.get_template("live.html").render(
        names=names,
        home="./",
        version=cometfuzz.__version__,
        style=Markup(style),
        script=Markup(script),
        policy=policy,
    )
    return text.encode("utf-8", "backslashreplace"), f"{policy}; {FRAMED_BY_NOBODY}"


@cache
def _environment() -> Environment:
    """The report's, with the page's templates beside."""
    report = environment()
    assert report.loader is not None
    return report.overlay(loader=ChoiceLoader([PackageLoader("cometfuzz.serving"), report.loader]))
