"""Tests that go over a whole catalogue: what pytest does around a test is dearer than most of what they look at."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from cometfuzz.catalogue.spec import LayerSpec


@contextmanager
def about(name: str) -> Iterator[None]:
    """What fails inside says of what."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"of {name}")
        raise


def by_family(specs: Mapping[str, LayerSpec]) -> dict[str, list[str]]:
    """The names of layers by their family: a test for each of these."""
    families: dict[str, list[str]] = {}
    for name, spec in specs.items():
        families.setdefault(spec.family, []).append(name)
    return families
