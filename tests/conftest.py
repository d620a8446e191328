"""What all tests share: what a user's machine has learned of the ledger is not theirs, nor what else is installed."""

import gc
import os
import sys

from cometfuzz import errors

errors.BORNE = ()  # what a campaign says and goes on after is a failure here
os.environ["COMETFUZZ_LEDGER"] = os.devnull + "/none"
os.environ["COMETFUZZ_PLUGINS"] = "none"

# Some shells and container images forbid Python to keep what it has compiled. Hundreds of processes import the same
# modules here: to compile them is a third of the start of a command, and more than half of collecting the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """What is imported and collected stays to the end: the collector need not go through it over and over."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # as the command line has it
