"""What there is to reach in some modules: a child tells it, in the environment that has them.

As the observer does, it finds and instruments them and imports none; what it makes is kept in the same cache. Standard
library and slipcover.
"""

import json
import sys
from pathlib import Path

from cometfuzz.execution.instrumenting import Cache, instrument
from cometfuzz.execution.observer import listed


def main() -> None:
    """Arguments: the folder of the cache, and patterns of modules. Prints JSON by module."""
    cache, found = Cache(Path(sys.argv[1])), {}
    for name, path in listed(sys.argv[2:]):
        module = instrument(path, cache)
        branches = sorted(label for label in module.labels if isinstance(label, tuple))
        found[name] = {"path": str(path), "digest": module.digest, "branches": branches}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
