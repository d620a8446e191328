"""Lines of this file are named in test_observer.py: change both."""

from collections.abc import Iterator


def choose(number: int) -> list[int]:
    def inner(value: int) -> int:
        if value % 2:
            return value * 10
        return value

    found = []
    for each in counted(number):
        found.append(inner(each))
    if number == 1:
        found.append(1)
    return found


def counted(number: int) -> Iterator[int]:
    while number:
        try:
            number = shrink(number)
        except ZeroDivisionError:
            return
        yield number


shrink = lambda number: number - 1 if number > 1 else 1 // 0  # noqa: E731
