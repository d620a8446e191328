"""What all tests share: what a user's machine has learned of the ledger is not theirs."""

import os

os.environ["COMETFUZZ_LEDGER"] = os.devnull + "/none"
