"""The route to the next version of toylib: the one to toylib, in a child of its own."""

from dataclasses import replace

import toylib.route

STEP = replace(
    toylib.route.STEP,
    name="toylib-next",
    group=replace(toylib.route.STEP.group, name="toylib-next"),
    module="toylib_next.route",
)
ROUTE = replace(toylib.route.ROUTE, name="toylib-next", path="toylib, the next version", steps=(STEP,))


def start(options):
    """Import the library, in the child."""
    import toylib_next

    return Adapter(toylib_next)


class Adapter(toylib.route.Adapter):
    """The same, but for its version."""

    def versions(self):
        return {"toylib": "0.2.0"}
