"""Collections: from the bugs of a campaign to folders, and from there to campaigns that recognise them."""

import datetime
import importlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import bugs as handmade
import msgspec
import pytest
from reporting import bug as reported_bug
from reporting import bugs as every_kind
from reporting import write_campaign
from triaging import Acting, crash_of
from trials import chain
from typer.testing import CliRunner

from cometfuzz import errors
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.store import Store
from cometfuzz.campaign.triaging import Progress, triage_campaign
from cometfuzz.catalogue.breaking import Target, draw_breaking
from cometfuzz.catalogue.validate import assemble
from cometfuzz.cli import app
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError, InvalidCollection, InvalidConfig
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case, Manner
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.ledger.defect import TRIGGERS, Defect, Seen
from cometfuzz.ledger.matching import View
from cometfuzz.ledger.reading import shipped
from cometfuzz.oracles.finding import Finding
from cometfuzz.places import Place
from cometfuzz.reports.collection import (
    NOT_COUNTED,
    beyond,
    by_symptom,
    by_trigger,
    filled,
    index_text,
    layers_text,
    write_tables,
)
from cometfuzz.reports.facts import gather, standing
from cometfuzz.reports.html import write_report
from cometfuzz.reports.junit import junit_report
from cometfuzz.reports.markdown import markdown_report
from cometfuzz.reports.published_bugs import DETECTED, TRIGGERED
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.collection import Collection, is_collection, slug_of
from cometfuzz.triage.entries import NEEDS_UTILITY, NOBODY_MENDS_IT, entry_text, first_entry, read_entry, stamp
from cometfuzz.triage.known import Known, gather_known, load_known, shipped_bugs
from cometfuzz.triage.reduce import Effort
from cometfuzz.triage.triage import Triage, Triaged

SHOWN = Script("print('seen: 1')\nraise SystemExit(1)\n", "main", True, 1, "seen: 1\n")


def made(case: Case | None = None, **more: Any) -> Bug:
    """A bug of Keras' torch backend with a script."""
    bug = handmade.bug(case or handmade.pooling(), handmade.finding("keras-torch"))
    return replace(bug, **{"script": SHOWN, "draft": "# a draft\n", **more})


def collected(folder: Path, *found: Bug) -> Collection:
    collection = Collection.read(folder)
    for bug in found:
        collection, _ = collection.add(bug)
    return collection


def replace_id(entry: Defect) -> Defect:
    return msgspec.structs.replace(entry, id="")


def judge(collection: Collection, slug: str, text: str) -> Collection:
    given = {"title": "t", "library": "keras", "why": ""}
    head = "".join(f'{key} = "{value}"\n' for key, value in given.items() if f"{key} = " not in text)
    (collection.folder / slug / "defect.toml").write_text(head + text)
    return Collection.read(collection.folder)


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200", "TERM": "dumb"})
    assert result.exit_code == 0, result.output
    return result.output


def test_a_bug_comes_back_as_it_was(tmp_path: Path) -> None:
    bug = made(known="not kept", triage_s=1.25)
    collection = collected(tmp_path / "bugs", bug)
    (entry,) = Collection.read(tmp_path / "bugs").entries
    assert entry.bug == replace(bug, known="", original=bug.minimal, triage_s=1.2)
    assert collection.entries == (entry,)
    assert sorted(path.name for path in entry.folder.iterdir()) == [
        *("bug.json", "case.json", "defect.toml", "issue.md", "script.py")
    ]


def test_a_call_that_breaks_a_rule_comes_back_as_it_was(tmp_path: Path) -> None:
    case = draw_breaking(Target("Embedding", "tokens are below input_dim"), Draw("breaking"))
    assert case is not None
    collected(tmp_path / "bugs", made(case))
    (entry,) = Collection.read(tmp_path / "bugs").entries
    assert entry.bug.minimal == case


def test_the_title_of_a_bug_is_that_of_its_entry(tmp_path: Path) -> None:
    collection = collected(tmp_path / "bugs", made())
    (entry,) = collection.entries
    assert "title" not in json.loads((entry.folder / "bug.json").read_text())
    (entry,) = judge(collection, entry.slug, 'title = "In the words of people"').entries
    assert entry.bug.title == "In the words of people"
    (renewed,) = Collection.read(tmp_path / "bugs").renew(entry, made(title="As a machine says it")).entries
    assert renewed.bug.title == "In the words of people"


@pytest.mark.parametrize("bug", [each for each in every_kind() if each.reported], ids=lambda bug: bug.id)
def test_whatever_a_library_says_can_be_kept(bug: Bug, tmp_path: Path) -> None:
    (entry,) = collected(tmp_path / "bugs", bug).entries
    assert entry.bug.signature == bug.signature
    assert entry.folder.parent == tmp_path / "bugs"
    assert not re.search(r"(?<!\\)<script", index_text(Collection.read(tmp_path / "bugs")))


def test_places_of_the_machine_are_left_out_but_what_is_compared_stays(tmp_path: Path) -> None:
    where = "/home/me/venv/lib/python3.11/site-packages/keras/src/a.py"
    found = replace(made().finding, detail=f"in {where}:12", failure=f"E: {where}", evidence={"frames": [where]})
    (entry,) = collected(tmp_path / "bugs", made(finding=found)).entries
    assert entry.bug.finding.detail == "in keras/src/a.py:12"
    assert (entry.bug.finding.evidence, entry.bug.finding.failure) == ({}, found.failure)
    cut_off = replace(made().finding, detail="while tracing a function at /home/m")
    (entry,) = collected(tmp_path / "others", made(finding=cut_off)).entries
    assert entry.bug.finding.detail == "while tracing a function at "


def test_only_what_a_script_shows_is_collected(tmp_path: Path) -> None:
    with pytest.raises(CometfuzzError, match="expected a bug whose script shows it"):
        collected(tmp_path, made(script=replace(SHOWN, shown=False)))


def test_names_say_what_it_is() -> None:
    assert slug_of(made()) == "keras-torch-averagepooling-same-value"
    bug = reported_bug("tf2onnx", "shape", ("Conv2D", "Conv1D", "ReLU"), stage="convert")
    condition = "units, use_bias=False, rank 5, float16"
    named = replace(bug, signature=replace(bug.signature, condition=condition))
    assert slug_of(named) == "tf2onnx-conv-relu-use-bias-false-units-shape"
    long = replace(bug, signature=replace(bug.signature, layers=("LayerNormalization",) * 2, condition="x" * 200))
    assert len(slug_of(long)) <= 62


def test_a_number_only_on_a_clash(tmp_path: Path) -> None:
    first = made()
    others = [replace(first, signature=replace(first.signature, failure=text)) for text in ("a", "b")]
    collection = collected(tmp_path / "bugs", first, *others)
    name = "keras-torch-averagepooling-same-value"
    assert [entry.slug for entry in collection.entries] == [name, f"{name}-2", f"{name}-3"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "expected version 1; received version=2"),
        ({"id": "0000000000"}, "expected id "),
        ({"minimal_id": "x"}, "expected minimal_id "),
        ({"data_kind": "dreadful"}, "Invalid enum value 'dreadful'"),
        ({"signature": ["x"]}, "Expected `object`, got `array`"),
        ({"more": 1}, "unknown field `more`"),
        ({"versions": {"keras": 3}}, "Expected `str`, got `int`"),
    ],
)
def test_a_record_that_is_wrong_is_refused_in_plain_words(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    (entry,) = collected(tmp_path / "bugs", made()).entries
    path = entry.folder / "bug.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InvalidCollection, match=message) as caught:
        Collection.read(tmp_path / "bugs")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"version": 1e999}'])
def test_a_record_that_is_no_record_is_refused(content: bytes, tmp_path: Path) -> None:
    (entry,) = collected(tmp_path / "bugs", made()).entries
    (entry.folder / "bug.json").write_bytes(content)
    with pytest.raises(InvalidCollection):
        Collection.read(tmp_path / "bugs")


def test_what_is_missing_or_misspelt_is_named(tmp_path: Path) -> None:
    collection = collected(tmp_path / "bugs", made())
    (entry,) = collection.entries
    with pytest.raises(InvalidCollection, match="standing"):
        judge(collection, entry.slug, 'standing = "perhaps"')
    for name in ("nobody", entry.slug):
        with pytest.raises(InvalidCollection, match=f"that has no same_fix itself; received same_fix={name}"):
            judge(collection, entry.slug, f'same_fix = "{name}"')
    judge(collection, entry.slug, "")
    (entry.folder / "script.py").unlink()
    with pytest.raises(InvalidCollection, match=r"script.py: expected a file of a bug; received No such file"):
        Collection.read(collection.folder)


def test_the_first_entry_is_computed() -> None:
    assert first_entry(made()).counted
    assert first_entry(made(utility=True)).because == NEEDS_UTILITY
    for library in ("mxnet", "keras-mxnet", "onnx2pytorch"):
        blame = replace(made().blame, library=library, role=f"runtime {library}")
        assert first_entry(made(blame=blame, utility=True)).because == NOBODY_MENDS_IT


def test_a_first_entry_is_read_as_it_was_written(tmp_path: Path) -> None:
    first = first_entry(made(title='a "title" with \x1b[31m and \x7f'))
    (tmp_path / "defect.toml").write_text(entry_text(first))
    assert replace_id(read_entry(Place(tmp_path))) == first


@pytest.mark.parametrize(
    ("case", "data_kind", "triggers"),
    [
        (chain((1, 4), ("ReLU", {})), "ordinary", ("default",)),
        (chain((1, 4), ("ReLU", {}), dtype="float16"), "ordinary", ("input",)),
        (chain((1, 4), ("ReLU", {"max_value": 3.0})), "special", ("parameter", "special value")),
        (chain((1, 4), ("ReLU", {}), ("Softmax", {})), "ordinary", ("sequence",)),
        (chain((0, 4), ("ReLU", {})), "empty", ("input",)),
    ],
)
def test_triggers_are_read_off_the_minimal_case(case: Case, data_kind: Any, triggers: tuple[str, ...]) -> None:
    bug = made(case, data_kind=data_kind)
    assert first_entry(bug).triggers == triggers


def test_a_date_leaves_the_rest_of_an_entry_alone(tmp_path: Path) -> None:
    path = tmp_path / "defect.toml"
    head = '# mine\ntitle = "t"\nwhy = "because"\nlibrary = "keras"\n'
    tables = '\n[[seen]]\nversions = { keras = "3" }\n'
    path.write_text(f"{head}verified = 2020-01-01\n{tables}")
    stamp(Place(tmp_path), datetime.date(2026, 11, 15))
    assert path.read_text() == f"{head}verified = 2026-11-15\n{tables}"
    path.write_text(head.rstrip())
    stamp(Place(tmp_path), datetime.date(2026, 11, 15))
    assert read_entry(Place(tmp_path)).verified == datetime.date(2026, 11, 15)


def test_a_finding_of_a_collected_bug_costs_no_run(tmp_path: Path) -> None:
    case = chain((2, 6), ("Dense", {"units": 5}), ("Softmax", {}))
    crash = crash_of("openvino", "keras-tf")
    executor = Acting(
        {"openvino": lambda graph: any(node.layer == "Softmax" for node in graph.nodes)}, ("keras-tf", "openvino")
    )

    def triage(**more: Any) -> Triage:
        return Triage(cast(Executor, executor), effort=Effort(steps=300), reproduce=lambda bug: SHOWN, **more)

    bug = triage().triage(crash, case).bug
    assert bug is not None
    collection = collected(tmp_path / "bugs", bug)
    (entry,) = collection.entries
    collection = judge(collection, entry.slug, 'upstream = [{ link = "https://example.org/7" }]')
    ran, other = executor.ran, chain((3, 4), ("ReLU", {}), ("Softmax", {}))
    later = triage(known=Known((), collection.entries))
    found = later.triage(crash, other)
    assert executor.ran == ran
    assert found.new
    assert found.bug is not None
    assert found.bug.known == f"bugs/{entry.slug}: https://example.org/7"
    assert (found.bug.id, found.bug.original, standing(found.bug)) == (bug.id, other, "known")
    assert not later.triage(crash, case).new

    unlike = replace(entry.bug, minimal=chain((1, 4), ("ELU", {})))  # does not cover it, but is it
    worked_out = triage(known=Known((), (replace(collection.entries[0], bug=unlike),))).triage(crash, case).bug
    assert executor.ran > ran
    assert worked_out is not None
    assert worked_out.known == f"bugs/{entry.slug}: https://example.org/7"


def test_a_campaign_marks_what_has_been_collected_since(tmp_path: Path) -> None:
    bug = made()
    folder = write_campaign(tmp_path / "campaign", cases=0, found=[bug])
    known = Known((), collected(tmp_path / "bugs", bug).entries)
    with Store.open(folder) as store:
        assert triage_campaign(store, {}, known) == []
    with Records(folder) as records:
        facts = gather(records)
    name = "bugs/keras-torch-averagepooling-same-value"
    assert facts.standings["known"] == 1
    assert f"known: {name}" in junit_report(facts)
    assert f"Known: {name}" in markdown_report(facts)
    page = write_report(facts, Place(tmp_path / "report")).parent / "bugs" / bug.id / "index.html"
    assert f"Known: {name}" in page.read_text()
    assert name in printed("bugs", str(folder))


@pytest.mark.parametrize("by", ["collection", "file"])
def test_what_people_call_a_limit_is_listed_apart(tmp_path: Path, by: str) -> None:
    bug = made()
    folder = write_campaign(tmp_path / "campaign", cases=0, found=[bug])
    if by == "collection":
        collection = collected(tmp_path / "bugs", bug)
        judged = judge(collection, collection.entries[0].slug, 'why = "undocumented"\nkind = "limit"\n')
        known = Known((), judged.entries)
    else:
        path = tmp_path / "mine.toml"
        path.write_text('[[issue]]\nnote = "undocumented"\nlimit = true\nlayers = "AveragePooling?D"\n')
        known = Known(load_known(path))
    with Store.open(folder) as store:
        assert triage_campaign(store, {}, known) == []
    with Records(folder) as records:
        facts = gather(records)
    assert (facts.standings["limit"], facts.standings["known"]) == (1, 0)
    assert "No bugs" in facts.headline
    assert " limit " in printed("bugs", str(folder))


def test_a_finding_over_which_triage_fails_waits_and_the_others_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(self: Triage, finding: Finding, case: Case, routes: Sequence[str] = ()) -> Triaged:
        if finding.symptom == "shape":
            raise ValueError("expected more")
        return Triaged(made())

    folder = write_campaign(tmp_path / "monday", found=[made()])
    monkeypatch.setattr(Triage, "triage", failing)
    with Store.open(folder) as store:
        before, shown = {store.finding(name).finding.symptom for name in store.waiting()}, list[Progress]()
        with pytest.raises(ValueError, match="expected more"):
            triage_campaign(store, ROUTES, Known(), shown.append)
        monkeypatch.setattr(errors, "BORNE", (Exception,))
        triage_campaign(store, ROUTES, Known(), shown.append)
        left = {store.finding(name).finding.symptom for name in store.waiting()}
    assert left == {"shape"} < before
    (text,) = {step.mistake for step in shown if step.mistake}
    with Records(folder) as records:
        assert text in [notice for _, notice in records.notices()]


def test_what_is_known_comes_from_files_and_collections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ours = shipped_bugs()
    assert gather_known([]) == Known(load_known(), ours)
    entries = collected(Path("bugs"), made()).entries
    assert gather_known([]).collected == (*entries, *ours)
    assert gather_known([], configured=[]).collected == ours
    assert gather_known([Path("bugs")]).collected == (*entries, *ours)
    assert gather_known([shipped()]).collected == (*entries, *ours), "what is shipped is not read twice"
    Path("mine.toml").write_text('[[issue]]\nnote = "mine"\nlibrary = "torch"\n')
    both = gather_known([Path("mine.toml")], configured=["bugs"])
    assert (both.issues[0].note, both.collected) == ("mine", (*entries, *ours))
    Path("empty").mkdir()
    with pytest.raises(InvalidConfig, match="expected a collection, or a TOML file; received a folder without bugs"):
        gather_known([Path("empty")])


def test_what_is_shipped_is_known_anywhere_for_the_versions_it_stands_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its bug and by its signature; a user's own collection and patterns hold whatever the versions."""
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('[[issue]]\nnote = "mine"\nlibrary = "torch"\n')
    collected(Path("bugs"), made())
    known = gather_known([Path("mine.toml")])
    (own, *ours), mine = known.collected, known.issues[0]
    assert (own.shipped, mine.note) == (False, "mine")
    view = usual_view()
    here = known.on(view, ["keras-tf"])
    assert here.collected[0] == own
    assert "bugs/keras-tf-add-value" in [each.place for each in here.collected]
    assert len(here.issues) > 1
    newer = View(ROUTES, {name: dict.fromkeys(versions, "99") for name, versions in view.versions.items()})
    assert known.on(newer, ["keras-tf"]) == Known((mine,), (own,))
    assert known.on(view, ["no such route"]) == Known((mine,), (own,))
    (entry,) = [each for each in ours if each.slug == "keras-tf-add-value"]
    mended = msgspec.structs.replace(entry.defect, fixed=(Seen({"keras": view.versions["keras-torch"]["keras"]}),))
    assert not replace(entry, defect=mended).stands(view, ["keras-tf"])


def test_collecting_adds_what_is_new_and_skips_the_rest(tmp_path: Path) -> None:
    campaign, into = str(write_campaign(tmp_path / "campaign", cases=1)), str(tmp_path / "bugs")
    first = json.loads(printed("collect", campaign, "--into", into, "--json"))
    assert [row["what"] for row in first["bugs"]].count("added") == 8
    assert {row["why"] for row in first["bugs"] if row["what"] == "skipped"} == {"no script shows it"}
    again = json.loads(printed("collect", campaign, "--into", into, "--json"))["bugs"]
    assert {row["what"] for row in again} == {"skipped"}
    listed = json.loads(printed("bugs", into, "--json"))["bugs"]
    assert len(listed) == 8
    assert {row["standing"] for row in listed} == {"counted", "not counted"}
    slug = listed[0]["slug"]
    assert "Why: nobody has said it yet" in printed("show", into, slug)
    assert "not judged" in printed("bugs", into)
    assert slug in printed("bugs", into)


def test_what_is_only_covered_may_be_taken_all_the_same(tmp_path: Path) -> None:
    bug = made()
    other = replace(bug, signature=replace(bug.signature, failure="another"))
    collected(tmp_path / "bugs", bug)
    campaign, into = str(write_campaign(tmp_path / "campaign", cases=1, found=[other])), str(tmp_path / "bugs")
    (row,) = json.loads(printed("collect", campaign, "--into", into, "--json"))["bugs"]
    assert (row["what"], row["why"]) == ("skipped", "covered")
    assert "added" in printed("collect", campaign, "--into", into, "--covered")


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "bugs").write_text("in the way")
    with pytest.raises(InvalidCollection, match=r"bugs: expected a collection; received Not a directory"):
        collected(tmp_path / "bugs", made())


def test_a_draft_that_a_kill_left_is_no_bug(tmp_path: Path) -> None:
    (entry,) = collected(tmp_path / "bugs", made()).entries
    entry.folder.rename(tmp_path / "bugs" / f".{entry.slug}.draft")
    assert not is_collection(tmp_path / "bugs")
    assert [each.slug for each in collected(tmp_path / "bugs", made()).entries] == [entry.slug]


def test_a_declared_bug_gets_its_record_where_its_entry_is(tmp_path: Path) -> None:
    bug = made()
    (tmp_path / "declared").mkdir()
    text = 'title = "by people"\nwhy = "so"\nlibrary = "keras"\n'
    (tmp_path / "declared" / "defect.toml").write_text(text)
    collection, entry = Collection.read(tmp_path).record("declared", bug)
    assert (entry.slug, entry.bug.title, entry.defect.why) == ("declared", "by people", "so")
    assert (tmp_path / "declared" / "defect.toml").read_text() == text
    assert Collection.read(tmp_path) == collection
    assert collection.has(bug) == entry


def test_renewing_keeps_the_entry(tmp_path: Path) -> None:
    bug = made()
    collection = collected(tmp_path / "bugs", bug)
    slug = collection.entries[0].slug
    judge(collection, slug, 'why = "because"')
    better = replace(bug, script=replace(SHOWN, text="# shorter\n"))
    campaign = str(write_campaign(tmp_path / "campaign", cases=1, found=[better]))
    assert "skipped" in printed("collect", campaign, bug.id, "--into", str(tmp_path / "bugs"))
    assert "renewed" in printed("collect", campaign, "--renew", "--into", str(tmp_path / "bugs"))
    (entry,) = Collection.read(tmp_path / "bugs").entries
    assert (entry.bug.script, entry.defect.why) == (better.script, "because")


def test_a_folder_that_is_neither_is_said_to_be(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bugs", str(tmp_path)])
    assert "or a collection of bugs; received neither" in str(result.exception)
    assert not is_collection(tmp_path / "nowhere")


def test_what_another_release_shows_is_left_out_where_its_environment_is_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("cometfuzz.cli.verify")
    monkeypatch.setattr(
        module, "find", lambda name: SimpleNamespace(python=Path(sys.executable), ready=name != "keras313")
    )
    older = replace(SHOWN, environment="keras313")
    collected(tmp_path / "bugs", made(), reported_bug("jax", "value", script=older))
    result = CliRunner().invoke(app, ["verify", str(tmp_path / "bugs")])
    assert result.exit_code == 0
    assert "1 bug left out: run `cometfuzz env create keras313` first" in result.stderr
    assert "1 of 1 scripts" in result.stdout


def test_verifying_says_what_is_still_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("cometfuzz.cli.verify")  # the package has the command under this name
    monkeypatch.setattr(module, "find", lambda name: SimpleNamespace(python=Path(sys.executable), ready=True))
    gone = Script("print('seen: 0')\n", "main", True, 1, "")
    missing = Script("raise SystemExit(2)\n", "main", True, 1, "")
    into = tmp_path / "bugs"
    collected(into, made(), reported_bug("jax", "value", script=gone), reported_bug("onnx", "value", script=missing))
    result = CliRunner().invoke(app, ["verify", str(into), "--date", "2026-11-15", "--json"])
    assert result.exit_code == 1
    answers = {row["name"]: row["now"] for row in json.loads(result.stdout)["bugs"]}
    name = "keras-torch-averagepooling-same-value"
    assert answers == {
        name: "still there",
        "jax-conv-same-value": "gone",
        "onnx-conv-same-value": "unclear: exit code 2",
    }
    dates = {entry.slug: entry.defect.verified for entry in Collection.read(into).entries}
    assert [slug for slug, day in dates.items() if day] == [name]
    assert "2026-11-15" in (into / "README.md").read_text()
    assert CliRunner().invoke(app, ["verify", str(into), "keras"]).exit_code == 0
    result = CliRunner().invoke(app, ["verify", str(into)], env={"COLUMNS": "200"})
    assert "1 still there, 1 gone, 1 unclear: 1 of 3 scripts show their bug." in result.output
    for entry in Collection.read(into).entries:
        path = entry.folder / "defect.toml"
        path.write_text(path.read_text() + '\n[[seen]]\nversions = { keras = "3" }\ncpu = "another"\n')
    result = CliRunner().invoke(app, ["verify", str(into)], env={"COLUMNS": "200"})
    assert result.exit_code == 0, "what was seen on other CPUs only is not gone here"
    assert "1 still there, 0 gone, 0 unclear, 2 not on this CPU" in result.output
    campaign = write_campaign(tmp_path / "campaign", cases=1, found=[made()])
    assert CliRunner().invoke(app, ["verify", str(campaign)]).exit_code == 0
    result = CliRunner().invoke(app, ["verify", str(campaign), "--stamp"])
    assert "expected a collection" in str(result.exception)


def test_the_index_lists_what_counts_and_the_rest_apart(tmp_path: Path) -> None:
    second = replace(made(), signature=replace(made().signature, failure="other"))
    unmaintained = reported_bug("mxnet", "crash", ("LSTM",), detail="a | b")
    collection = collected(tmp_path / "bugs", made(), second, unmaintained)
    name = "keras-torch-averagepooling-same-value"
    collection = judge(
        collection, f"{name}-2", f'same_fix = "{name}"\nupstream = [{{ link = "https://example.org/1" }}]'
    )
    counted, *apart = index_text(collection).split("## Not counted\n\n")
    assert "1 bug in 1 library, and 2 that are not counted" in counted
    assert f"| [{name}]({name}/) | Keras | 3.15.1 | run | AveragePooling1D | value | parameter |" in counted
    assert [text.partition("\n")[0] for text in apart] == [NOT_COUNTED["same fix"], NOBODY_MENDS_IT]
    assert f"[{name}-2]({name}-2/) ([issue](https://example.org/1)) (as {name})" in apart[0]
    assert "MXNet" in apart[1]
    assert "## Why" not in apart[1]
    collection = judge(collection, name, 'why = """The documentation\nsays <b>otherwise</b>."""')
    assert f"- [{name}]({name}/): The documentation says &lt;b>otherwise&lt;/b>." in index_text(collection)


def test_people_overrule_the_blame(tmp_path: Path) -> None:
    collection = collected(tmp_path / "bugs", made())
    collection = judge(collection, collection.entries[0].slug, 'library = "torch"')
    assert (collection.entries[0].library, collection.entries[0].version) == ("PyTorch", "2.13.0")


def test_the_tables_stand_beside_the_papers(tmp_path: Path) -> None:
    collection = collected(tmp_path / "bugs", made(), reported_bug("openvino", "death"), reported_bug("mxnet", "crash"))
    rows = {line.split(" | ")[0].strip("| "): line for line in by_symptom(collection)}
    assert rows["Keras"] == "| Keras |  | 1 | 1 |  | 8 | 4 | 0 | 12 (10) |"
    assert rows["MXNet"] == "| MXNet |  |  |  | 1 | 4 | 1 | 0 | 5 (1) |"
    assert rows["OpenVINO"] == "| OpenVINO | 1 |  | 1 |  |  |  |  |  |"
    assert rows["all"] == "| all | 1 | 1 | 2 | 1 | 23 | 8 | 1 | 32 (21) |"
    assert list(by_trigger(collection))[-1] == "| all | 0 / 6 | 1 / 7 | 0 / 6 | 0 / 7 | 1 / 1 | 2 / 21 |"
    lengths = {line.count(" | ") for table in (by_symptom, by_trigger) for line in list(table(collection))[2:]}
    assert len(lengths) == 2


def test_what_the_papers_models_do_not_have_is_named() -> None:
    drafts = [
        Draft("x", "input", {"dtype": "int32", "shape": (2, 3), "high": 5}, ()),
        Draft("y", "ops.abs", {}, (Edge("x"),)),
        Draft("z", "Dense", {"units": 2, "policy": "mixed_float16"}, (Edge("y"),)),
    ]
    case = Case(assemble(drafts, [Edge("z")]), 1, manner=Manner(named=True))
    assert beyond(case) == ["operators", "integer or boolean inputs", "mixed precision", "dictionaries"]
    assert beyond(Case(assemble([Draft("x", "input", {"dtype": "float32", "shape": (2,)}, ())], [Edge("x")]), 1)) == []


def test_the_papers_numbers_are_its_own_sums() -> None:
    assert sum(each.total for each in DETECTED.values()) == 32
    assert sum(each.confirmed for each in DETECTED.values()) == len(TRIGGERED) == 21
    counts = {name: sum(name in triggers for _, _, triggers in TRIGGERED) for name in TRIGGERS}
    assert counts == {"input": 6, "parameter": 7, "sequence": 6, "special value": 7, "default": 1}


def test_text_around_the_tables_is_kept(tmp_path: Path) -> None:
    collection = collected(tmp_path / "bugs", made())
    text = (
        "a\n<!-- begin by symptom -->old<!-- end by symptom -->\nb\n<!-- begin by trigger --><!-- end by trigger -->c"
        "<!-- begin by model --><!-- end by model -->"
    )
    document = tmp_path / "docs" / "bugs.md"
    document.parent.mkdir()
    document.write_text(text)
    assert write_tables(collection) == [tmp_path / "bugs" / "README.md", document]
    written = document.read_text()
    assert written.startswith("a\n<!-- begin by symptom -->\n\n| library")
    assert "old" not in written
    assert "\nb\n<!-- begin by trigger -->\n\n| library" in written
    assert "<!-- end by trigger -->c<!-- begin by model -->" in written
    assert filled(written, collection, document) == written
    with pytest.raises(InvalidCollection, match="expected <!-- begin by trigger -->"):
        filled(text.replace("begin by trigger", ""), collection, document)


def test_repeated_layers_are_counted() -> None:
    assert layers_text(("ReLU",) * 3 + ("Dense", "ReLU")) == "ReLU x 3 > Dense > ReLU"
