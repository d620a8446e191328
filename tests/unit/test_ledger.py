"""The ledger: entries are data, and an entry says something only of versions that it was seen with."""

from pathlib import Path

import pytest

from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.errors import CometfuzzError, InvalidLedger
from cometfuzz.execution.versions import usual_view, versions_of
from cometfuzz.ledger.defect import Applies, Defect
from cometfuzz.ledger.matching import View, meets, rule_of, rules
from cometfuzz.ledger.predicates import named, predicates
from cometfuzz.ledger.reading import defects, read, same_fix
from cometfuzz.routes.registry import ROUTES, moved

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
    seen = {"keras": "3.15.1", "tensorflow": "2.21.0"}
    assert meets(seen, {"keras": "3.15.1", "jax": "0.10.2"})
    assert meets(seen, {"keras": "3.15.1", "tensorflow": "2.21.0"})
    assert not meets(seen, {"keras": "3.15.1", "tensorflow": "2.20.0"})
    assert not meets(seen, {"jax": "0.10.2"})


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


def test_rules_speak_of_routes_and_steps_that_there_are() -> None:
    known = {*ROUTES, *(step.name for route in ROUTES.values() for step in route.steps)}
    assert {name for rule in rules() for name in rule.routes} <= known
