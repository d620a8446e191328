"""Replay: bring a fresh strategy to where a campaign was, since it decides by its seed and its feedback alone."""

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress

import cometfuzz
from cometfuzz.campaign.events import Summary
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.stored import Logged
from cometfuzz.coverage.gain import Coverage, summary_of
from cometfuzz.coverage.layers import SIGMA, SPACES
from cometfuzz.errors import InvalidCampaign, InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.search.strategies import Feedback, Strategy


def replay(
    records: Records,
    strategy: Strategy,
    window: int,
    show: Callable[[int], None] = lambda done: None,
    proposed: Callable[[Case], None] = lambda case: None,
    ran: Callable[[Case, Mapping[str, str]], None] = lambda case, statuses: None,
) -> list[Case]:
    """Let a fresh strategy propose and learn again all that the campaign has stored; return the cases in flight.

    The strategy must be made with the settings of the campaign. The order is that of every campaign: a case is proposed
    whenever fewer than `window` are in flight, else the oldest of them is learned. Afterwards cases 0 to done - 1 are
    learned, cases done to done + window - 1 are proposed and not learned, and the latter are returned in order: the
    strategy is in the state in which it was when case `done` was next to be learned, whether or not the campaign had
    come to propose all of them before it was killed. Nothing of a case in flight is stored, so the loop runs them all
    (but none beyond its own limit of cases), learns them in order, as these very objects, and proposes case
    done + window after learning case `done`.

    `show` is called with the number of cases replayed. `proposed` is called with each case that stays in flight, right
    after it was proposed: coverage is then what it was at that moment, and not yet what it is in the end. A loop whose
    decisions for a case depend on coverage must take them there, or it decides otherwise than an unharmed one. `ran` is
    called with every part of a case and the statuses of its routes, before the strategy learns of the case.

    Raises InvalidCampaign if the strategy proposes other cases than are stored.
    """
    flying: deque[Case] = deque()
    done, made = records.done, 0

    def fill() -> None:
        nonlocal made
        while len(flying) < window:
            flying.append(strategy.propose())
            made += 1
            if made > done:
                proposed(flying[-1])

    for logged in records.feedbacks():
        fill()
        case = flying.popleft()
        _expect(records, logged, case_id(case))
        if records.writing:
            records.files.save(case)  # a file that was set aside is there again
        for name, statuses in records.parts(logged.index):
            with suppress(InvalidCase):  # a part whose file was set aside covers a little again
                ran(case if name == logged.case_id else records.case(name), statuses)
        _learn(records, strategy, case, logged)
        show(logged.index + 1)
    fill()
    return list(flying)


def _learn(records: Records, strategy: Strategy, case: Case, logged: Logged) -> None:
    try:
        strategy.learn(case, _feedback(records, logged))
    except InvalidCase as error:
        raise InvalidCampaign(
            f"{records.folder}: expected calls in the leads of case {logged.index}; received {error}"
        ) from None


def _expect(records: Records, logged: Logged, received: str) -> None:
    if received != logged.case_id:
        raise InvalidCampaign(
            f"{records.folder}: expected case {logged.index} to be {logged.case_id} again; received {received}. The "
            f"campaign was made by cometfuzz {records.made_by} (this is {cometfuzz.__version__}), with another "
            "catalogue or with other settings: it can be read, but not resumed; start a new one in another folder"
        )


def _feedback(records: Records, logged: Logged) -> Feedback:
    try:
        return Feedback.from_plain(logged.feedback)
    except ValueError as error:
        raise InvalidCampaign(
            f"{records.folder}: expected the feedback of case {logged.index} as this version knows it; received {error}"
        ) from None


def recount(records: Records, sigma: int = SIGMA) -> Summary:
    """What the stored cases that executed cover, counted anew from their files."""
    counted = [Coverage(space(sigma)) for space in SPACES]
    for logged in records.feedbacks():
        if logged.feedback["executed"]:
            graph = records.case(logged.case_id).graph
            for coverage in counted:
                coverage.cover(graph)
    return summary_of(counted)
