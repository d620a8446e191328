"""The home folder of a process that imports libraries: empty, but for what forbids them to report to their makers.

OpenVINO's converter sends what it is given to its makers unless its user has said no: names of operations, errors, in
a fork of the process for each message. Models are their user's own, and a campaign converts thousands. Standard
library only.
"""

from pathlib import Path

REFUSALS = {"intel/openvino_telemetry": "0"}
"""Where in a user's home folder a library looks for consent, and what says no: what `opt_in_out --opt_out` writes."""


def private_home(folder: Path) -> dict[str, str]:
    """Make a folder a home, and the variables that say so."""
    for name, content in REFUSALS.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="ascii")
    home = str(folder)
    return {"HOME": home, "TMPDIR": home}
