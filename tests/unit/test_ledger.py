"""The ledger: entries are data, and an entry says something only of versions that it was seen with."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import msgspec
import pytest
from typer.testing import CliRunner

from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.catalogue.files import load
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.cli import app
from cometfuzz.errors import CometfuzzError, InvalidLedger
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Failure, Outcome, Trial
from cometfuzz.execution.versions import usual_view, versions_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.changes import mended, versions_met
from cometfuzz.ledger.cpu import level_of
from cometfuzz.ledger.defect import ANY_CPU, Applies, Defect, Seen
from cometfuzz.ledger.matching import View, rule_of, rules
from cometfuzz.ledger.overlay import Learned, Overlay, read_overlay, write_overlay
from cometfuzz.ledger.predicates import named, predicates
from cometfuzz.ledger.reading import defects, read, same_fix, shipped
from cometfuzz.places import Place
from cometfuzz.protocol import WireTensor
from cometfuzz.reference.run import narrow, run
from cometfuzz.routes.registry import ROUTES, moved
from cometfuzz.triage import refreshing
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.collection import Collected
from cometfuzz.triage.refreshing import Measured, Question, measure, questions

LEAKY = "keras-tf-leakyrelu-float64-value"


def float64_leaky() -> tuple[object, ...]:
    for index in range(200):
        drawn = draw_layer("LeakyReLU", 3, index)
        if drawn.x.dtype == "float64":
            return drawn.spec, drawn.x, drawn.params
    raise AssertionError("no draw in float64")


def test_every_entry_says_what_and_why_and_where_it_was_seen() -> None:
    for defect in defects().values():
        assert defect.title, defect.id
        assert defect.why, defect.id
        assert defect.seen, defect.id
        routes = [route for route in ROUTES.values() if defect.spoken_of & route.names]
        told = {name for route in routes for name in versions_of(route)}
        names = {name for each in defect.seen for name in each.versions}
        assert defect.library in names or defect.library not in told, f"{defect.id}: the version of its own library"
        assert defect.standing != "counted" or defect.kind == "bug", defect.id


def test_every_predicate_is_named_and_every_name_is_a_predicate() -> None:
    used = {text.removeprefix("not ") for defect in defects().values() for each in defect.applies for text in each.when}
    assert used == set(predicates())


def test_an_entry_holds_only_for_the_versions_it_was_seen_with() -> None:
    call = float64_leaky()
    assert LEAKY in [rule.id for rule in usual_view().rules_against("keras-tf", *call)]  # type: ignore[arg-type]
    older = View(ROUTES, {"keras-tf": {**versions_of(ROUTES["keras-tf"]), "tensorflow": "2.16.2"}})
    assert list(older.rules_against("keras-tf", *call)) == []  # type: ignore[arg-type]
    assert list(View(ROUTES, {}).rules_against("keras-tf", *call)) == []  # type: ignore[arg-type]


def test_a_copy_of_a_route_is_known_by_the_name_of_the_original() -> None:
    copy = moved(ROUTES["onnxruntime"], "mine", "elsewhere")
    view = View({"mine": copy}, {"mine": versions_of(ROUTES["onnxruntime"])})
    call = float64_leaky()
    mine = [rule.id for rule in view.excuses("mine", *call)]  # type: ignore[arg-type]
    assert mine == [rule.id for rule in usual_view().excuses("onnxruntime", *call)]  # type: ignore[arg-type]
    assert LEAKY in mine, "what the front end does wrong excuses what is behind it, with the versions of the copy"


def test_versions_meet_if_all_that_both_have_agree() -> None:
    seen = Seen({"keras": "3.15.1", "tensorflow": "2.21.0"})
    assert seen.meets({"keras": "3.15.1", "jax": "0.10.2"}, "aarch64")
    assert seen.meets({"keras": "3.15.1", "tensorflow": "2.21.0"}, "aarch64")
    assert not seen.meets({"keras": "3.15.1", "tensorflow": "2.20.0"}, "aarch64")
    assert not seen.meets({"jax": "0.10.2"}, "aarch64")


def test_an_entry_says_nothing_of_a_kind_of_cpu_that_it_was_not_seen_on() -> None:
    versions = {"keras-tf": {"keras": "3.15.1", "tensorflow": "2.21.0"}}
    old, new = (View(ROUTES, versions, cpu=cpu) for cpu in ("x86-64-v3", "x86-64-v4"))
    defect = Defect("t", "w", "keras", seen=(Seen({"keras": "3.15.1"}, "x86-64-v4"),))
    assert new.stands(defect, "keras-tf")
    assert not old.stands(defect, "keras-tf")
    gone = msgspec.structs.replace(
        defect, seen=(Seen({"keras": "3.15.1"}),), fixed=(Seen(versions["keras-tf"], "x86-64-v3"),)
    )
    assert (old.stands(gone, "keras-tf"), new.stands(gone, "keras-tf")) == (False, True)


def test_one_fix_is_one_defect() -> None:
    assert same_fix(LEAKY, defects()[LEAKY].same_fix)
    assert same_fix("nobody-knows-it", "nobody-knows-it")
    assert not same_fix(LEAKY, "keras-tf-add-value")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = 1", "Expected `str`"),
        ('title = "t"\nwhy = "w"\nlibrary = "keras"\nkind = "opinion"', "kind"),
        ('title = "t"\nwhy = "w"\nlibrary = "keras"\nsame_fix = "nowhere"', "received same_fix=nowhere"),
        ('title = "t"\nwhy = "w"\nlibrary = "keras"\ncolour = "red"', "colour"),
        ("\udcff", "UTF-8"),
    ],
)
def test_a_bad_entry_is_one_line_that_names_its_file(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "defect.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidLedger) as caught:
        read(tmp_path)
    assert "defect.toml" in str(caught.value)
    assert words in str(caught.value) or "utf-8" in str(caught.value)


def test_an_entry_that_names_what_there_is_not_is_refused() -> None:
    defect = Defect("t", "w", "keras", id="mine")
    with pytest.raises(InvalidLedger, match="received layers='Convolution'"):
        rule_of(defect, Applies(("keras-tf",), ("Convolution",)))
    with pytest.raises(CometfuzzError, match="received when='eval'"):
        rule_of(defect, Applies(("keras-tf",), when=("eval",)))


def test_not_is_the_opposite() -> None:
    spec, x, params = float64_leaky()
    assert CATALOGUE["LeakyReLU"] is spec
    assert named("empty")(x, params) is not named("not empty")(x, params)


def test_stray_memory_is_read_of_images_as_of_volumes() -> None:
    graph = load(shipped() / "openvino-conv-single-column-uninitialised" / "case.json").graph
    node = graph.nodes[-1]
    (x,) = graph.input_types(node)
    strays = named("reads_stray_memory")
    assert strays(x, node.params)
    assert not strays(x, node.params.replace(strides=(1, 1)))


def test_rules_speak_of_routes_and_steps_that_there_are() -> None:
    known = {*ROUTES, *(step.name for route in ROUTES.values() for step in route.steps)}
    assert {name for rule in rules() for name in rule.routes} <= known


def test_every_entry_has_evidence() -> None:
    """A case that can be run anywhere; `cometfuzz ledger refresh --anew` runs them all."""
    for defect in defects().values():
        assert (shipped() / defect.id / "case.json").is_file(), defect.id
        load(shipped() / defect.id / "case.json")


def test_what_was_looked_for_in_vain_does_not_stand() -> None:
    versions = {"keras-tf": {"keras": "3.16.0", "tensorflow": "2.21.0"}}
    view = View(ROUTES, versions)
    defect = Defect("t", "w", "keras", seen=(Seen({"keras": "3.16.0"}),))
    assert view.stands(defect, "keras-tf")
    assert not view.stands(
        msgspec.structs.replace(defect, fixed=(Seen({"keras": "3.16.0", "tensorflow": "2.21.0"}),)), "keras-tf"
    )
    assert view.stands(
        msgspec.structs.replace(defect, fixed=(Seen({"keras": "3.16.0", "torch": "2.13.0"}),)), "keras-tf"
    )


def test_what_the_pinned_versions_have_mended_stands_with_the_older_ones_only() -> None:
    mended = defects()["keras-torch-convtranspose-same-kernel-size-shape"]
    assert not usual_view().stands_anywhere(mended)
    older = {"keras-torch": {**versions_of(ROUTES["keras-torch"]), "keras": "3.13.2"}}
    assert View(ROUTES, older).stands_anywhere(mended)
    elsewhere = {"keras-tf": {"keras": "3.13.2", "tensorflow": "2.21.0"}}
    assert not View(ROUTES, elsewhere).stands_anywhere(mended), "it does not speak of that route"


def test_what_changed_between_two_versions_is_told_in_both_directions() -> None:
    def seen(keras: str, **others: str) -> Seen:
        return Seen({"keras": keras, **others})

    def entry(name: str, shows: Seen, gone: Seen) -> Defect:
        return Defect(title=name, why="so", library="keras", seen=(shows,), fixed=(gone,), id=name)

    known = [
        entry("mended", seen("1", torch="2"), seen("2", torch="2")),
        entry("new", seen("2"), seen("1", torch="2")),
        entry("with another torch", seen("1", torch="2"), seen("2", torch="3")),
        entry("on another backend", seen("1", torch="2"), seen("2", jax="1")),
        msgspec.structs.replace(
            entry("on one of two", seen("1"), seen("2", jax="1")), seen=(seen("1"), seen("2", torch="2"))
        ),
        entry("still there", seen("2"), seen("3")),
    ]
    assert [each.defect.id for each in mended(known, "keras", "1", "2")] == ["mended"]
    assert [each.defect.id for each in mended(known, "keras", "2", "1")] == ["new"]
    assert versions_met(known, "keras") == ["1", "2", "3"]


def test_the_command_tells_what_keras_has_mended() -> None:
    told = CliRunner().invoke(app, ["ledger", "changes", "keras", "3.13.2", "3.15.1", "--json"])
    ids = {each["id"] for each in json.loads(told.output)["changes"] if each["shows"] == "3.13.2"}
    assert "keras-tf-conv-l1-float16-crash" in ids
    refused = CliRunner().invoke(app, ["ledger", "changes", "keras", "3.13.2", "0.1"])
    assert "3.13.2" in str(refused.exception)


def test_what_is_learned_stands_before_what_is_shipped(tmp_path: Path) -> None:
    shipped_entry = Defect("t", "w", "keras", seen=(Seen({"keras": "3.15.1"}),), id="one")
    newer = Seen({"keras": "3.16.0"}, "x86-64-v3")
    learned = Learned().add(newer, "seen")
    path = tmp_path / "data" / "ledger.json"
    write_overlay(path, Overlay(entries={"one": learned}))
    found = read_overlay(path).on({"one": shipped_entry})["one"]
    assert [each.versions["keras"] for each in found.seen] == ["3.15.1", "3.16.0"]
    write_overlay(path, Overlay(entries={"one": learned.add(newer, "fixed")}))
    mended = read_overlay(path).on({"one": shipped_entry})["one"]
    assert ([each.versions["keras"] for each in mended.seen], mended.fixed) == (["3.15.1"], (newer,))
    assert read_overlay(path).digest != Overlay(entries={"one": learned}).digest
    assert read_overlay(tmp_path / "none").digest == ""
    path.write_text('{"version": 2}')
    with pytest.raises(InvalidLedger, match="received version=2"):
        read_overlay(path)


def test_a_cpu_has_the_newest_level_whose_features_it_has() -> None:
    second = {"cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"}
    third = second | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
    assert level_of(third, "x86_64") == "x86-64-v3"
    assert level_of(third - {"popcnt"}, "x86_64") == "x86-64"
    assert level_of(set(), "aarch64") == "aarch64"


class Recorded:
    """An executor in name: says what a route did with every case."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome, self.routes, self.view = outcome, ROUTES, usual_view()

    def run(
        self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        return Trial(case, dict.fromkeys(routes, self.outcome))


def asked(name: str, route: str) -> Question:
    entry = msgspec.structs.replace(defects()[name], seen=(Seen({"tf2onnx": "1.0"}, ANY_CPU),))
    (question,) = questions({name: entry}, shipped(), [ROUTES[route]])
    return question


def test_a_refresh_says_what_still_shows_what_does_not_and_what_nobody_can_tell() -> None:
    question = asked("tf2onnx-erfc", "onnxruntime")
    assert question.versions == {"tf2onnx": "1.17.0"}

    def measured(outcome: Outcome) -> Measured:
        return measure(question, cast(Executor, Recorded(outcome)), None)

    raised = Failure("ValidationError", ("ValidationError",), "No Op registered for Erfc", ())
    assert measured(Outcome("onnxruntime", "exception", "tf2onnx", "tf2onnx", failure=raised)).shows is True
    other = Failure("TypeError", ("TypeError",), "unexpected keyword", ())
    elsewhere = measured(Outcome("onnxruntime", "exception", "build", "keras", failure=other))
    assert (elsewhere.shows, elsewhere.reason[:19]) == (None, "it fails otherwise:")
    graph = question.case.graph
    values = run(graph, draw_data(question.case)).values
    kinds = [(edge, graph.type_of(edge)) for edge in graph.outputs]
    right = [WireTensor(kind.dtype, kind.shape, narrow(values[edge], kind.dtype).tobytes()) for edge, kind in kinds]
    gone = measured(Outcome("onnxruntime", "completed", "run", "onnxruntime", right))
    assert (gone.shows, gone.found) == (False, "fixed")
    foreign = Seen({"tf2onnx": "1.0"}, "another kind")
    question = replace(question, defect=msgspec.structs.replace(question.defect, seen=(foreign,)))
    gone = measured(Outcome("onnxruntime", "completed", "run", "onnxruntime", right))
    assert (gone.shows, gone.found) == (None, "absent"), "what was seen on other CPUs only is not fixed"
    assert gone.result == "does not show on this CPU"


def test_a_refresh_asks_only_for_versions_that_are_new() -> None:
    known = {"tf2onnx-erfc": defects()["tf2onnx-erfc"]}
    assert list(questions(known, shipped(), [ROUTES["onnxruntime"]])) == []
    assert len(list(questions(known, shipped(), [ROUTES["onnxruntime"]], anew=True))) == 1
    assert list(questions(known, shipped(), [ROUTES["keras-torch"]], anew=True)) == []


def test_a_refresh_asks_no_route_where_the_rules_speak_of_other_layers_than_the_case() -> None:
    name = "keras-tf-categoryencoding-float16-crash"
    assert {"keras-tf", "keras-torch"} <= defects()[name].spoken_of
    (question,) = questions({name: defects()[name]}, shipped(), [ROUTES["keras-tf"], ROUTES["keras-torch"]], anew=True)
    assert question.routes == ("keras-tf",), "on PyTorch its rule is about Hashing, and its case has none"


def test_where_its_case_shows_nothing_a_script_for_just_that_route_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "all-dot-normalize-true-float16-nonfinite"
    bug = Collected.read(Place(shipped()) / name).bug
    (question,) = questions({name: defects()[name]}, shipped(), [ROUTES["keras-jax"]], anew=True)
    zero = WireTensor("float16", (1, 1), b"\0\0")
    silent = cast(Executor, Recorded(Outcome("keras-jax", "completed", "run", "jax", [zero])))
    asked_of: list[tuple[str, ...]] = []

    def written(shown: bool, code: int) -> Callable[..., Script]:
        def reproduce(bug: Bug, *_: object) -> Script:
            asked_of.append(bug.finding.camps[0].routes)
            return Script("", "main", shown, code, "")

        return reproduce

    for shown, code, result in ((True, 1, "still there"), (False, 0, "does not show"), (False, 2, "not measured")):
        monkeypatch.setattr(refreshing, "reproduce", written(shown, code))
        assert measure(question, silent, bug).result == result
    assert asked_of == [("keras-jax",)] * 3


@pytest.mark.parametrize(
    ("subscripts", "implied"),
    [("h,...c,...h", True), ("...c,...h", True), ("...c,...h->...c", False), ("h,...h", False), ("ij,jk", False)],
)
def test_dots_are_implied_where_several_operands_have_them(subscripts: str, implied: bool) -> None:
    assert named("dots_are_implied")((), Params({"subscripts": subscripts})) is implied


@pytest.mark.parametrize(
    ("shape", "dtype", "kernel", "strides", "stray"),
    [
        ((2, 2, 1, 1), "float32", (1, 2), (1, 2), True),
        ((2, 2, 1, 1), "float32", (5, 2), (1, 3), True),
        ((2, 2, 1, 1), "float64", (1, 2), (1, 2), False),
        ((2, 2, 1, 3), "float32", (1, 2), (1, 2), False),  # three channels
        ((2, 1, 1, 1), "float32", (1, 2), (1, 2), False),  # one row
        ((2, 2, 3, 1), "float32", (1, 2), (1, 2), False),  # two columns
        ((2, 2, 1, 1), "float32", (1, 1), (1, 2), False),
    ],
)
def test_a_convolution_of_one_channel_to_one_column_strays(
    shape: tuple[int, ...], dtype: str, kernel: tuple[int, int], strides: tuple[int, int], stray: bool
) -> None:
    sizes = {"kernel_size": kernel, "strides": strides, "dilation_rate": (1, 1)}
    params = Params({**sizes, "padding": "same", "data_format": "channels_last"})
    assert named("reads_stray_memory")(TensorType(dtype, shape), params) is stray
    by_operator = Params({**params, "kernel_size": (), "strides": strides})
    given = (TensorType(dtype, shape), TensorType(dtype, (*kernel, shape[-1], 1)))
    assert named("kernel_on_images_reads_stray_memory")(given, by_operator) is stray
