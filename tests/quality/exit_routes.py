"""Routes for the test of exit codes, as a package from outside declares them: what the parent imports of `planted`."""

from cometfuzz.routes import QUIET, Group, Library, Route, Stage, Step


def _route(name: str, fault: str = "", environment: str = "tool") -> Route:
    group = Group(f"exit-{environment}", environment, QUIET)
    options = {"fault": fault} if fault else {}
    build = Step("build", group, "planted", "build", (Stage("build", Library("planted")),), live=True)
    return Route(
        name, "tests", "", (build, Step(name, group, "planted", "run", (Stage("run", Library(name)),), options))
    )


CLEAN_A, CLEAN_B = _route("clean-a"), _route("clean-b")
FAULTY = _route("faulty", "border-not-finite")
SOFTER = _route("softer", "dtype-promoted,crop-off-by-one,zero-size")
NOWHERE = _route("nowhere", environment="nowhere")
HANGING = Route(
    "hanging",
    "tests",
    "",
    (Step("hanging", Group("exit-hanging", "tool", QUIET), "hanging", "run", (Stage("run", Library("hanging")),)),),
)
BROKEN = Route(
    "broken",
    "tests",
    "",
    (Step("broken", Group("exit-broken", "tool", QUIET), "no_such_module", "run", (Stage("run", Library("broken")),)),),
)
