"""Kill -9 at random instants: a child writes to a store as fast as it can, over and over; nothing may be lost.

Run as a program of one thread, so that it may fork: `python store_kills.py FOLDER KILLS`, with the folder `tests` on
its path. The child sends a byte for every event that `handle` has returned from. A kill comes after some of these bytes
or after some milliseconds, so that it also falls into creation, check and replay.
"""

import json
import os
import signal
import sys
import time
from itertools import islice
from pathlib import Path

from stand_in import SETTINGS, WINDOW, campaign, counts, fresh, last_coverage

from cometfuzz.campaign.folder import DATABASE
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.replay import recount, replay
from cometfuzz.campaign.store import Store
from cometfuzz.draw import Draw


def write(folder: Path, acknowledge: int) -> None:
    """The child: begin or go on, and write until killed."""
    store = Store.open(folder) if (folder / DATABASE).exists() else Store.create(folder, SETTINGS)
    assert store.check() == []
    strategy = fresh()
    flying = replay(store, strategy, WINDOW)
    for event in campaign(strategy, store.done, flying):
        store.handle(event)
        os.write(acknowledge, b".")


def kill_one(folder: Path, draw: Draw) -> int:
    """How many events the child had acknowledged when it was killed."""
    receive, acknowledge = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        write(folder, acknowledge)
    os.close(acknowledge)
    acknowledged = 0
    if draw.chance(0.7):
        for _ in range(draw.integer(0, 8)):
            acknowledged += len(os.read(receive, 1))
    time.sleep(draw.fraction() * 0.03)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, f"the child ended by itself: {status}"
    with open(receive, "rb") as rest:
        return acknowledged + len(rest.read())


def main(folder: Path, kills: int) -> None:
    unharmed = campaign(fresh())
    expected = [next(unharmed).case_id]  # also what is worth having before the first fork: spaces, specs
    before = 0
    for number in range(kills):
        draw = Draw("kill", number)
        acknowledged = kill_one(folder, draw)
        if not (folder / DATABASE).exists():
            continue
        with Records(folder) as records:
            assert records.check() == [], records.check()
            done = records.done
            assert done >= before + acknowledged, (done, before, acknowledged)
            ids = [logged.case_id for logged in records.feedbacks()]
            expected += [event.case_id for event in islice(unharmed, max(0, done - len(expected)))]
            assert ids == expected[:done], "the cases are not those of a campaign that nobody killed"
            assert sum(1 for _ in records.outcomes()) == 2 * done
            assert sum(1 for _ in records.findings()) == done
            if done:
                assert counts(recount(records)) == last_coverage(records)
            before = done
    print(json.dumps({"kills": kills, "done": before}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
