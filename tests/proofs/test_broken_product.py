"""Our own product broken on purpose: ten mutants, of ten rules, each of which must turn a proof red, one of them in every run; `make mutants` has
all of them (part 7).

The children of a proof run the broken copy; the proving process, with oracle and checkers, stays sound. A mutant that is `everywhere` is in
that process too: the oracle must not take from the product what it judges (R28).
"""

import shutil
from pathlib import Path

import pytest

from mutants.catalogue import ROOT, Mutant, Selection, catalogue, in_groups
from mutants.proving import prove_here, proved, report_here

TEN = [mutant for mutant in catalogue() if mutant.ci]
EVERY_RUN = ("ledger-not-looked-up",)
ALWAYS = [mutant for mutant in TEN if mutant.name in EVERY_RUN]
MUTANTS = [*ALWAYS, *(pytest.param(mutant, marks=pytest.mark.full) for mutant in TEN if mutant not in ALWAYS)]


def groups(mutants: list[Mutant]) -> list[tuple[Selection, list[Mutant]]]:
    """The scenarios that a proof of the sound product tries, with the mutants that are caught there."""
    return [
        (selection, [mutant for mutant in mutants if mutant.selection.group == group])
        for group, selection in in_groups(mutants).items()
    ]


GROUPS = [
    *(pytest.param(*each, id=str(each[0])) for each in groups(ALWAYS)),
    *(pytest.param(*each, id=f"of ten, {each[0]}", marks=pytest.mark.full) for each in groups(TEN)),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_broken_product_turns_a_proof_red(mutant: Mutant, tmp_path: Path) -> None:
    seen = proved(mutant, tmp_path)
    assert seen.verdict == "fail", f"{mutant} stays {seen.verdict}"
    assert seen.found_by(mutant.red), f"{mutant} is found by {sorted(seen.failing)}, not by {mutant.red}"


@pytest.mark.parametrize(("selection", "mutants"), GROUPS)
def test_the_sound_product_passes_the_same_scenarios(selection: Selection, mutants: list[Mutant], tmp_path: Path) -> None:
    """Where the rate of the job changes at the restart it stops, as it must (R4); what the mutant is caught by it passes."""
    seen = prove_here(selection, tmp_path)
    if selection.rate_at_restart is None:
        assert seen.verdict == "pass", seen.failing
    assert not [checker for mutant in mutants for checker in seen.found_by(mutant.red)]


@pytest.mark.full
def test_the_sound_product_stops_where_a_replay_computes_something_else(tmp_path: Path) -> None:
    """R4: nothing wrong is published; with "replay-not-compared" the same proof finds rows of two rates."""
    report = report_here(Selection("converted", "publish/euros@1:after", rate_at_restart=2.5), tmp_path)
    crash = next(scenario for scenario in report["scenarios"] if scenario["id"] != "fault-free")
    assert [check["name"] for check in crash["checks"]] == ["recovery"]
    assert "ran again and is not what was published" in crash["checks"][0]["findings"][0]["what"]
    assert report["scenarios"][0]["verdict"] == "pass", "without a restart the rate does not change"


@pytest.mark.full
def test_a_mistake_reaches_the_python_workers_too(tmp_path: Path) -> None:
    """What publishes to services runs there: a mutant that only the driver had would survive whatever it breaks."""
    copy = Path(shutil.copytree(ROOT / "src" / "streamproof", tmp_path / "broken" / "streamproof"))
    (copy / "__init__.py").open("a").write("\nBROKEN = True\n")
    times = ("job.py", "return rate * notional", "return rate * notional * (2 if hasattr(sp, 'BROKEN') else 1)")
    selection = Selection("converted", "fault-free", change=(times,))

    assert prove_here(selection, tmp_path, copy.parent).failing.keys() == {"row-contents"}
