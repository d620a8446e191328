"""The report as JUnit XML, for CI servers: a suite for each library, a test case for each bug.

A new bug, and one that needs a utility node, has failed; a known one, and one that no script shows, is skipped.
"""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cometfuzz.reports.facts import Facts, fails, standing
from cometfuzz.reports.text import visible
from cometfuzz.triage.bug import Bug

NO_BUGS = "cometfuzz"
"""The suite of a campaign without bugs: servers take a file without a test for an error."""

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_report(facts: Facts) -> str:
    """The XML text."""
    suites = Element("testsuites", name=_text(f"cometfuzz {facts.name}"))
    libraries: dict[str, list[Bug]] = {}
    for bug in facts.bugs:
        libraries.setdefault(bug.signature.library, []).append(bug)
    for library, bugs in libraries.items():
        _add_suite(suites, library or "no library", bugs)
    if not libraries:
        suite = SubElement(suites, "testsuite", name=NO_BUGS, tests="1", failures="0", errors="0", skipped="0")
        SubElement(suite, "testcase", classname=NO_BUGS, name=f"no bugs in {facts.done} cases", time="0")
    for name in ("tests", "failures", "errors", "skipped"):
        suites.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _add_suite(suites: Element, library: str, bugs: Sequence[Bug]) -> None:
    skipped = sum(not fails(bug) for bug in bugs)
    counts = {"tests": len(bugs), "failures": len(bugs) - skipped, "errors": 0, "skipped": skipped}
    suite = SubElement(suites, "testsuite", name=_text(library))
    for name, count in counts.items():
        suite.set(name, str(count))
    for bug in bugs:
        _add_case(suite, library, bug)


def _add_case(suite: Element, library: str, bug: Bug) -> None:
    signature = bug.signature
    case = SubElement(
        suite,
        "testcase",
        classname=_text(f"{library}.{signature.stage}"),
        name=_text(f"{bug.title} [{bug.id}]"),
        time=f"{bug.triage_s:.3f}",
    )
    kind = standing(bug)
    if bug.known:
        SubElement(case, "skipped", message=_text(f"{kind}: {bug.known}"))
    elif not fails(bug):
        SubElement(case, "skipped", message="no script shows it by itself")
    else:
        failure = SubElement(case, "failure", message=_text(bug.finding.detail), type=signature.symptom)
        failure.text = _text(f"{bug.blame.reasoning}\n\n{bug.script.text if bug.script else ''}")
    if bug.script is not None and bug.script.output:
        SubElement(case, "system-out").text = _text(bug.script.output)


def _text(text: str) -> str:
    """Text that XML can hold: it has no place for control signs, not even as entities."""
    return _FORBIDDEN.sub("\ufffd", visible(text))
