"""What all tests share: what a user's machine has learned of the ledger is not theirs, nor what else is installed."""

import os

os.environ["COMETFUZZ_LEDGER"] = os.devnull + "/none"
os.environ["COMETFUZZ_PLUGINS"] = "none"
