"""Reports in every format, from a folder made by hand with hostile texts in it."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import msgspec
import pytest
import sarif
from lxml import etree
from reporting import HOSTILE, HOSTILE_LINK, bug, bugs, hostile_bug, write_campaign
from typer.testing import CliRunner

from cometfuzz.campaign.records import Records
from cometfuzz.campaign.store import Store
from cometfuzz.campaign.stored import Point, Settled
from cometfuzz.cli import app
from cometfuzz.errors import CometfuzzError
from cometfuzz.oracles.finding import DATA_KINDS
from cometfuzz.oracles.symptoms import SEVERITIES
from cometfuzz.places import Place
from cometfuzz.reports.difference import compared, difference, labelled
from cometfuzz.reports.facts import Facts, gather, standing, thinned
from cometfuzz.reports.html import rerun_command, write_report
from cometfuzz.reports.json_report import json_report
from cometfuzz.reports.junit import junit_report
from cometfuzz.reports.markdown import fenced, inline, markdown_report
from cometfuzz.reports.sarif import sarif_report
from cometfuzz.reports.text import is_link, visible
from cometfuzz.triage.bug import Script
from cometfuzz.triage.records import bug_as_plain, bug_from_plain

SCHEMA = etree.XMLSchema(etree.parse(str(Path(__file__).with_name("junit.xsd"))))
SARIF_SCHEMA = json.loads(Path(__file__).with_name("sarif-2.1.0.json").read_text(encoding="utf-8"))
"""The rules of the standard as the npm package @microsoft/sarif-multitool-linux 5.7.0 has them, without their prose."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_campaign(tmp_path_factory.mktemp("reports") / "monday")


@pytest.fixture(scope="module")
def facts(folder: Path) -> Facts:
    with Records(folder) as records:
        return gather(records)


@pytest.fixture(scope="module")
def pages(facts: Facts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(facts, Place(tmp_path_factory.mktemp("pages") / "report")).parent


class Elements(HTMLParser):
    """What a page is made of: elements with their attributes, and whether every element is closed."""

    VOID = ("meta", "link", "br", "input", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_a_bug_survives_the_store(tmp_path: Path) -> None:
    made = [*bugs(), replace(hostile_bug(), known="x")]
    write_campaign(tmp_path / "c", 2, made)
    with Records(tmp_path / "c") as records:
        found = {each.id: each for each in records.bugs()}
    assert found == {each.id: each for each in made}  # the last of one id stands


def test_a_bug_is_strict_about_its_plain_form() -> None:
    plain = json.loads(json.dumps(bug_as_plain(bug("torch"))))
    assert bug_from_plain(plain) == bug("torch")
    assert plain["id"] == bug("torch").id
    with pytest.raises(CometfuzzError):
        bug_from_plain({**plain, "minimal": {"version": 1}})


def test_ordinary_bugs_come_first_and_unshown_last(facts: Facts) -> None:
    reported = [each for each in facts.bugs if each.reported]
    assert [each.reported for each in facts.bugs] == [True] * len(reported) + [False] * 2
    places = [(SEVERITIES.index(each.severity), DATA_KINDS.index(each.data_kind)) for each in reported]
    assert places == sorted(places)
    assert facts.standings == {"new": 5, "known": 2, "utility": 1, "limit": 0, "unshown": 2}
    assert facts.headline == "5 new bugs in 4 libraries"
    assert standing(replace(bug("a"), known="x", script=None)) == "known"
    assert standing(replace(bug("a"), known="x", limit=True)) == "limit"
    assert standing(replace(bug("a"), known="x", utility=True)) == "utility"


def test_findings_of_a_bug_are_not_listed_apart(tmp_path: Path, facts: Facts) -> None:
    with Records(write_campaign(tmp_path / "c", 60, [])) as records:
        found = next(found for found in records.findings() if found.finding.counts)
        before = gather(records)
    mine = bug("tensorflow", found.finding.symptom, original_id=found.case_id)
    with Store.open(tmp_path / "c") as store:
        store.keep(mine)
        same = [each.id for each in list(store.findings()) if each.finding.key == found.finding.key]
        waiting = store.waiting()
        for name in same:
            store.settle(Settled(name, mine.id, name == same[0], "", 0.5))
        after = gather(store)
        assert [name for name in waiting if name not in same] == store.waiting()
        assert [each.finding for each in store.settled() if each.first] == same[:1]
    assert after.sightings == {mine.id: len(same)}
    keys = [[group.finding.key for group in some.not_counted if group.reason == "no bug"] for some in (before, after)]
    assert found.finding.key in keys[0]
    assert found.finding.key not in keys[1]
    assert {group.reason for group in facts.not_counted} == {"no bug", "unsupported", "defect"}
    assert all(group.finding.defect for group in facts.not_counted if group.reason == "defect")


def test_the_limits_that_a_campaign_met_are_listed_with_their_links(facts: Facts, tmp_path: Path) -> None:
    group = next(group for group in facts.not_counted if group.reason == "defect")
    finding = replace(group.finding, defect="keras-tf-adaptivemaxpooling-float64-special-nonfinite")
    met = replace(
        facts, not_counted=[replace(group, finding=finding, count=3), replace(group, finding=finding, count=4)]
    )
    ((defect, count),) = met.met
    assert (defect.id, count) == (finding.defect, 7)
    assert defect.link.startswith("https://")
    page = write_report(met, Place(tmp_path / "report")).read_text()
    told = json.loads(json_report(met))["met"]
    assert [(each["id"], each["findings"], each["link"]) for each in told] == [(defect.id, 7, defect.link)]
    for text in (page, markdown_report(met)):
        assert "Known limits and bugs that it met" in text
        assert defect.link in text
    assert "that it met" not in markdown_report(facts), "what the ledger does not have is not listed"


def test_the_curve_keeps_its_ends() -> None:
    points = [Point(index, float(index), {}, None) for index in range(10_000)]
    kept = thinned(iter(points), 100)
    assert kept[0] is points[0]
    assert kept[-1] is points[-1]
    assert 100 <= len(kept) <= 202
    assert thinned(iter(points[:3])) == points[:3]
    assert thinned(iter(())) == []


def test_every_page_is_well_formed_and_runs_nothing_of_a_librarys(pages: Path, facts: Facts) -> None:
    names = sorted(pages.rglob("*.html"))
    assert len(names) == 1 + len(facts.bugs)
    own = {tag for tag, _ in Elements((pages / "index.html").read_text()).elements}
    assert {"table", "svg", "select", "details"} <= own
    for name in names:
        text = name.read_text("utf-8")
        page = Elements(text)
        assert not page.wrong
        assert not page.open
        kinds = [tag for tag, _ in page.elements]
        assert kinds.count("script") == kinds.count("style") == 1
        assert not {"img", "b", "iframe", "object", "form"} & set(kinds)
        for tag, attributes in page.elements:
            assert not [key for key in attributes if key.startswith("on") or key == "style"], (tag, attributes)
            address = attributes.get("href") or ""
            assert (
                re.match(r"(data:image/svg|https://github\.com/keras-team/|#|[\w./-]+$|\.\./)", address) or not address
            )
        assert "49" not in page_title(text)
        assert not re.search("[\x00\x1b\u202e\ud800]", text)


def page_title(text: str) -> str:
    found = re.search("<title>(.*?)</title>", text, re.DOTALL)
    assert found
    return found[1]


def test_the_policy_allows_our_script_by_its_hash_only(pages: Path) -> None:
    text = (pages / "index.html").read_text()
    policy = next(
        attributes["content"] or ""
        for tag, attributes in Elements(text).elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_links_of_the_index_lead_to_pages(pages: Path, facts: Facts) -> None:
    index = Elements((pages / "index.html").read_text())
    linked = [attributes["href"] or "" for tag, attributes in index.elements if tag == "a"]
    for each in facts.bugs:
        assert f"bugs/{each.id}/index.html" in linked
    inside = {attributes["id"] for _, attributes in index.elements if "id" in attributes}
    anchors = {address[1:] for address in linked if address.startswith("#") and "=" not in address}
    assert anchors <= inside
    for each in facts.bugs:
        place = pages / "bugs" / each.id
        page = Elements((place / "index.html").read_text())
        files = {attributes["href"] or "" for tag, attributes in page.elements if "download" in attributes}
        assert files
        assert all((place / name).is_file() for name in files)


def test_a_bugs_page_has_everything(pages: Path) -> None:
    shown = bug("onnxruntime", "value", ("Conv2D", "ReLU"))
    place = pages / "bugs" / shown.id
    text = (place / "index.html").read_text()
    assert (place / "script.py").read_text() == shown.script.text if shown.script else False
    for piece in (
        "runtime onnxruntime",
        "All failing routes end in it",
        "<mark>nan</mark>",
        "Copy the script",
        "40 nodes",
    ):
        assert piece in text
    assert 'class="node output marked"' in text
    assert "print(&#34;it&#39;s onnxruntime&#34; if 1 &lt; 2" in text


def test_the_page_of_a_known_bug_leads_to_its_issue(facts: Facts, tmp_path: Path) -> None:
    known = bug("tf2onnx", script=None, runs=0, shown=0, known="https://example.org/1: bfloat16: no <b>")
    known = replace(known, signature=replace(known.signature, layers=()))
    write_report(replace(facts, bugs=[known]), Place(tmp_path / "report"))
    text = (tmp_path / "report" / "bugs" / known.id / "index.html").read_text()
    link = '<a href="https://example.org/1" rel="noreferrer noopener">https://example.org/1</a>: bfloat16: no &lt;b&gt;'
    assert link in text
    assert "It is known, so that nobody ran it again." in text
    assert "None was made: the bug is known." in text
    assert '<span class="pill"></span>' not in text


def test_a_report_replaces_only_a_report(facts: Facts, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("years of work")
    with pytest.raises(CometfuzzError, match="expected a new folder"):
        write_report(facts, Place(tmp_path / "other"))
    write_report(facts, Place(tmp_path / "report"))
    gone, kept = facts.bugs[0].id, facts.bugs[1].id
    (tmp_path / "report" / "bugs" / kept / "note.txt").write_text("mine")
    write_report(replace(facts, bugs=facts.bugs[2:]), Place(tmp_path / "report"))
    assert not (tmp_path / "report" / "bugs" / gone).exists()
    assert [path.name for path in (tmp_path / "report" / "bugs" / kept).iterdir()] == ["note.txt"]


def test_a_campaign_without_anything_has_a_report(tmp_path: Path) -> None:
    with Store.create(tmp_path / "c", {}) as store:
        facts = gather(store)
    text = write_report(facts, Place(tmp_path / "r")).read_text()
    assert "No bugs" in text
    assert not Elements(text).wrong
    assert SCHEMA.validate(etree.fromstring(junit_report(facts).encode()))
    assert json.loads(json_report(facts))["bugs"] == []
    assert msgspec.json.decode(sarif_report(facts), type=sarif.Log).runs[0].results == []
    assert markdown_report(facts).startswith("# No bugs\n")


def test_junit_holds_to_the_schema(facts: Facts) -> None:
    tree = etree.fromstring(junit_report(facts).encode())
    assert SCHEMA.validate(tree), SCHEMA.error_log
    assert len(tree.findall(".//testcase")) == len(facts.bugs)
    assert (tree.get("failures"), tree.get("skipped")) == ("7", "3")
    failed = [case.get("name") for case in tree.findall(".//testcase[failure]")]
    assert any("onnxruntime: value" in name for name in failed)
    assert not any("keras: crash in LSTM" in name for name in failed)
    wrong = etree.fromstring(junit_report(facts).replace("<failure message", "<failure massage").encode())
    assert not SCHEMA.validate(wrong)


def test_sarif_holds_to_the_standard(facts: Facts) -> None:
    text = sarif_report(facts)
    (run,) = msgspec.json.decode(text, type=sarif.Log).runs
    assert [result.properties["id"] for result in run.results] == [each.id for each in facts.bugs]
    by_title = {result.message.text.partition(".")[0]: result for result in run.results}
    wrong = by_title["onnxruntime: value in Conv2D > ReLU"]
    assert (wrong.kind, wrong.level, wrong.rule_id) == ("fail", "error", "value")
    artifact = run.artifacts[wrong.locations[0].physical_location.artifact_location.index]
    assert artifact.contents.text.startswith("import onnxruntime\n")
    known = by_title["keras: crash in LSTM"]
    assert known.suppressions[0].justification.startswith("known: https://")
    assert known.work_item_uris == ["https://github.com/keras-team/keras/issues/12345"]
    assert [by_title[f"{name}"].kind for name in ("jax: hang in SeparableConv2D",)] == ["review"]
    counted = [result for result in run.results if result.kind == "fail" and not result.suppressions]
    assert len(counted) == int(etree.fromstring(junit_report(facts).encode()).get("failures"))
    assert len({result.fingerprints["signature/v1"] for result in run.results}) == len(run.results)
    assert "javascript:" not in "".join(link for each in run.results for link in each.work_item_uris or ())
    for spoilt in (text.replace('"ruleIndex": 0', '"ruleIndex": 1'), text.replace('"startLine"', '"line"')):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(spoilt, type=sarif.Log)


def test_sarif_holds_to_its_schema(facts: Facts) -> None:
    schema = jsonschema.Draft202012Validator(SARIF_SCHEMA, format_checker=jsonschema.FormatChecker())
    text = sarif_report(facts)
    assert '"suppressions"' in text
    for log in (text, sarif_report(replace(facts, bugs=[]))):
        assert [error.message for error in schema.iter_errors(json.loads(log))] == []
    for ours, wrong in (('"status"', '"state"'), ('"startLine": 1', '"startLine": 0'), ('"fail"', '"failed"')):
        assert ours in text
        assert not schema.is_valid(json.loads(text.replace(ours, wrong))), wrong


def test_json_is_strict_and_complete(facts: Facts) -> None:
    hurt = replace(facts, bugs=[replace(bug("torch"), triage_s=float("nan"))])

    def refuse(name: str) -> None:
        raise AssertionError(name)

    plain = json.loads(json_report(hurt), parse_constant=refuse)
    assert plain["bugs"][0]["triage_s"] == "NaN"
    assert plain["counts"]["new"] == 1
    assert plain["coverage"]["paper"]["inputs"]["total"] == 766
    assert plain["routes"]["keras-mxnet"]["runs"] > 0
    assert plain["curve"][-1]["covered"]["paper"]["inputs"] == plain["coverage"]["paper"]["inputs"]["covered"]
    assert plain["campaign"]["versions"]["keras"] == ["3.15.1"]


def test_reports_show_pairs_and_triples_of_each_route(facts: Facts) -> None:
    counts = {"covered": 313, "total": 1200, "reachable": 1000}
    spaces = {"pairs": {"pairs": counts}, "triples": {"triples": {**counts, "covered": 127}}}
    text = markdown_report(replace(facts, by_route={"keras-tf": spaces}))
    assert "| pairs | triples |" in text
    assert "| 31.3% | 12.7% |" in text


def test_markdown_keeps_texts_in_their_places(facts: Facts) -> None:
    text = markdown_report(facts)
    rows = [line for line in text.splitlines() if line.startswith("| ") and line.endswith(" |")]
    assert len([row for row in rows if len(re.findall(r"(?<!\\)\|", row)) == 9]) == len(facts.bugs) + 2
    outside = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"(?<!\\)<(?!https://github)", outside)
    assert "](" not in outside
    assert fenced("a\n````\nb").startswith("`````\n")
    assert inline("a\n\nb") == "a b"


def test_text_of_libraries_is_made_visible() -> None:
    seen = visible(HOSTILE)
    assert "\\u202eabc" in seen
    assert "red" in seen
    assert "\x1b" not in seen
    assert seen.encode()
    assert visible("a\n\tb") == "a\n\tb"
    assert is_link("https://github.com/keras-team/keras/issues/1")
    for text in (
        HOSTILE_LINK,
        "javascript:alert(1)",
        "https://x y",
        'https://x"onclick=',
        " https://x",
        "data:text/html,x",
    ):
        assert not is_link(text)


def test_expected_and_seen_come_from_the_script_or_the_routes() -> None:
    printed = difference(bug("torch"))
    assert printed.source == "as the script prints it"
    assert [piece.text for piece in printed.seen.pieces if piece.differs] == ["nan"]
    silent = replace(bug("torch", detail="ValueError: no"), script=Script("", "main", True, 1, "boom"))
    routes = difference(silent)
    assert routes.seen.who == "onnxruntime, onnxruntime-noopt"
    assert "".join(piece.text for piece in routes.seen.pieces) == "ValueError: no"
    assert "".join(piece.text for piece in routes.expected.pieces) == "completed"
    alone = replace(silent, finding=replace(silent.finding, camps=silent.finding.camps[:1]))
    assert difference(alone).expected.who == "the reference"


def test_labels_of_an_output() -> None:
    output = "torch 2\nexpected (reference): [1,\n   2]\nseen: [1,\n 3]\n\n more\nexpected: later\n"
    assert labelled(output) == {"expected": "[1,\n   2]", "seen": "[1,\n 3]"}
    assert labelled("nothing") == {}
    left, right = compared("a b " * 2000, "c")
    assert not left[0].differs
    assert "".join(piece.text for piece in right) == "c"


def test_the_command_to_run_again(facts: Facts) -> None:
    command = rerun_command(replace(facts, name="it's", settings={"seed": 3, "branches": False, "routes": ["a", "b"]}))
    assert command == """cometfuzz run --seed 3 --no-branches --cases 60 --routes a,b --out 'it'"'"'s-again'"""


def printed(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "100", "TERM": "dumb"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_commands(folder: Path, tmp_path: Path) -> None:
    named = bug("onnxruntime", "value", ("Conv2D", "ReLU"))
    listed = json.loads(printed("bugs", folder, "--json"))["bugs"]
    assert listed[0]["id"] == named.id
    assert len(listed) == 10
    table = printed("bugs", folder)
    assert named.id in table
    assert "\x1b" not in table
    assert "runtime onnxruntime" in printed("show", folder, named.id[:4])
    assert bug_from_plain(json.loads(printed("show", folder, named.id, "--json"))) == named
    assert "\x1b" not in printed("show", folder, hostile_bug().id)
    index = printed("report", folder, "-o", tmp_path / "pages").strip()
    assert Path(index).is_file()
    for form in ("junit", "sarif", "json", "markdown"):
        printed("report", folder, "--format", form, "-o", tmp_path / form)
        assert printed("report", folder, "--format", form).strip() == (tmp_path / form).read_text().strip()


def test_wrong_names_are_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    for arguments in (
        ["show", folder, "zz"],
        ["bugs", tmp_path],
        ["report", folder, "--format", "json", "-o", tmp_path],
    ):
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert isinstance(result.exception, CometfuzzError)
        assert "\n" not in str(result.exception)
