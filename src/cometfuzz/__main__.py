"""`python -m cometfuzz` is `cometfuzz`."""

from cometfuzz.cli import main

main()
