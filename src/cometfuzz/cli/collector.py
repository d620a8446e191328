"""The garbage collector: graphs, and what is remembered of them, are many small things without cycles, and a fifth of
the time of a campaign's parent went into looking through them."""

import gc


def look_seldom() -> None:
    """For any command, from its beginning."""
    gc.set_threshold(50_000, 20, 50)


def leave_alone() -> None:
    """What is there by now, the catalogue, spaces and the ledger, stays for good and is not looked through any more."""
    gc.freeze()
