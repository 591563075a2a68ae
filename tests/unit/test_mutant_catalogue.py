"""The catalogue of mutants: each still applies to the source, breaks a rule that is known, and says who must see it."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from mutants.catalogue import ROOT, Edit, Mutant, catalogue, in_groups
from mutants.proving import RECORDING
from mutants.verdict import Fate, judged

MUTANTS = catalogue()
CHECKERS = {
    *re.findall(
        r'@checker\("([a-z-]+)"\)', "".join(path.read_text() for path in (ROOT / "src/streamproof/prove/checkers").glob("*.py"))
    ),
    *re.findall(
        r'CheckResult\(\s*"([a-z-]+)"', "".join(path.read_text() for path in (ROOT / "src/streamproof/prove").rglob("*.py"))
    ),
    "max-future",
    RECORDING,
}
OF_THE_PROVER = {"R16", "R17", "R18", "R19", "R23", "R24", "R29"}
"""Rules about what proves, and not about what is shipped: checkers and plans have tests of their own."""
NOT_SEEN = {"R14"}
"""A rule without a mutant: no mutant of it is proved on the job with several queries."""


def test_there_are_at_least_sixty_mutants_with_names_of_their_own():
    assert len(MUTANTS) >= 60
    assert [name for name, times in Counter(mutant.name for mutant in MUTANTS).items() if times > 1] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_applies_to_the_source_as_it_is_today(mutant: Mutant) -> None:
    texts: dict[str, str] = {}
    for edit in mutant.edits:
        texts[edit.path] = edit.applied(texts.get(edit.path, (ROOT / edit.path).read_text()))
    for path, text in texts.items():
        if path.endswith(".py"):
            compile(text, path, "exec")


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_says_what_it_breaks_and_who_must_see_it(mutant: Mutant) -> None:
    assert re.fullmatch(r"R([1-9]|[12]\d|3[0-2])", mutant.rule)
    assert mutant.says.endswith(".")
    assert bool(mutant.red) != bool(mutant.survives), "a checker, or the reason why none can see it"
    assert set(mutant.red) <= CHECKERS
    assert mutant.selection.folder.is_dir()
    assert mutant.selection.plan in ("standard", "quick", "full")
    assert all((mutant.selection.folder / file).read_text().count(before) == 1 for file, before, _ in mutant.selection.change)
    assert bool(mutant.services) == bool(mutant.selection.profile or mutant.selection.job in ("payments", "facts"))


def test_every_rule_that_a_proof_can_see_has_a_mutant():
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    rules = set(re.findall(r"^### (R\d+) ", page, re.MULTILINE))
    assert rules - {mutant.rule for mutant in MUTANTS} == OF_THE_PROVER | NOT_SEEN


def test_the_tests_have_ten_of_as_many_rules():
    always = [mutant for mutant in MUTANTS if mutant.ci]
    assert len(always) == 10
    assert len({mutant.rule for mutant in always}) == 10
    assert not [mutant.name for mutant in always if mutant.services or mutant.survives]


def test_an_edit_whose_text_is_not_there_once_says_so():
    for text, times in (("none", 0), ("twice twice", 2)):
        with pytest.raises(ValueError, match=f"is {times} times in a.py"):
            Edit("a.py", "twice", "").applied(text)


def test_the_sound_product_is_tried_on_the_scenarios_of_all_mutants_of_a_kind():
    first, second = (replace(MUTANTS[0].selection, only=only) for only in ("a@1:after,b", "b,c"))
    other = replace(first, plan="full")

    groups = in_groups([replace(MUTANTS[0], selection=selection) for selection in (first, second, other)])

    assert [selection.only for selection in groups.values()] == ["a@1:after,b,c", "a@1:after,b"]


SOUND: dict[str, Any] = {"verdict": "pass", "failing": {}}
A, B = ("account", ["fault-free"]), ("recovery", ["publish/x@1:after"])


@pytest.mark.parametrize(
    ("red", "seen", "sound", "fate", "mend"),
    [
        (("account",), dict([A]), {}, Fate.RED, ""),
        (("account",), dict([B]), {}, Fate.RED, "it names account"),
        (("recovery",), dict([B]), dict([B]), Fate.SURVIVED, "it says that a proof turns red"),
        (("account",), dict([A]), {"account": ["publish/x@1:after"]}, Fate.RED, ""),
        ((), {}, {}, Fate.SURVIVED, ""),
        ((), dict([A]), {}, Fate.RED, "it says that it survives"),
    ],
    ids=["red", "red by another", "the sound one is red too", "the sound one is red elsewhere", "survives", "is caught after all"],
)
def test_a_mutant_is_red_by_what_the_sound_product_passes(red, seen, sound, fate, mend):
    mutant = replace(MUTANTS[0], red=red, survives="" if red else "a reason")

    result = judged(mutant, {"verdict": "fail", "failing": seen}, {**SOUND, "failing": sound}, 1.0)

    assert (result.fate, result.mend) == (fate, mend)


def test_a_mutant_without_a_verdict_is_neither_red_nor_a_survivor():
    result = judged(MUTANTS[0], {"problem": "ValueError: it does not apply"}, SOUND, 1.0)

    assert result.fate is Fate.BROKEN
    assert "does not apply" in str(result)


def test_a_mutant_whose_proof_ends_unknown_survives_and_says_so():
    result = judged(replace(MUTANTS[0], red=("account",), survives=""), {"verdict": "unknown", "failing": {}}, SOUND, 1.0)

    assert result.fate is Fate.SURVIVED
    assert "unknown" in result.why
