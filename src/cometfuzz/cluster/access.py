"""Which scheduler, and how one gets to it: an address or a scheduler's file, with certificates or on this machine only.

Whoever may connect to a Dask scheduler may run any code on its nodes and on this machine. So an address that is neither
loopback nor TLS is refused unless somebody insists, and TLS takes a certificate on both sides.
"""

import ipaddress
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cometfuzz.config import ClusterConfig
from cometfuzz.errors import InvalidConfig
from cometfuzz.reading import read_regular

MAX_BYTES = 2**20
"""Of a scheduler's file: it lists all nodes."""

KEYS = ("ca", "cert", "key")


@dataclass(frozen=True)
class Access:
    """A scheduler's address, and the files of certificates if it is a TLS one."""

    address: str
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


def access_to(given: str, config: ClusterConfig, insecure: bool) -> Access:
    """The cluster that a command or the configuration names; InvalidConfig if it should not be used so."""
    address = _address_in(Path(given)) if given.endswith(".json") else given
    parts = urlsplit(address)
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if parts.scheme not in ("tcp", "tls") or not host or not port:
        raise InvalidConfig(
            f"expected tcp://HOST:PORT, tls://HOST:PORT or FILE.json; received cluster={address!r:.200}"
        )
    if parts.scheme == "tcp":
        if not (is_loopback(host) or insecure):
            raise InvalidConfig(
                "expected a tls:// address with certificates, or one of this machine (whoever may connect to a "
                f"scheduler may run any code there and here), or --insecure; received cluster={address!r:.200}"
            )
        return Access(address)
    files = {name: Path(getattr(config, name)).expanduser() for name in KEYS if getattr(config, name)}
    if missing := [name for name in KEYS if name not in files]:
        raise InvalidConfig(
            f"{address}: expected ca, cert and key under [cluster] in cometfuzz.toml; received no {', '.join(missing)}"
        )
    for name, path in files.items():
        if not path.is_file():
            raise InvalidConfig(f"[cluster]: expected a file; received {name}={str(path)!r}")
    return Access(address, **files)


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can be meant."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address_in(path: Path) -> str:
    """The address in a scheduler's file, as `dask scheduler --scheduler-file` writes it."""
    try:
        found = json.loads(read_regular(path, MAX_BYTES, InvalidConfig))
        address = found["address"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InvalidConfig(f"{path}: expected a scheduler's file, with its address; received something else") from None
    return str(address)
