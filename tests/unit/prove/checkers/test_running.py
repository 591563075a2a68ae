"""A faultless history passes every checker; one that crashes is unknown."""

import re
from pathlib import Path

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove import checkers
from streamproof.prove.checkers import KEPT, CannotTell, Finding, run_checker, run_checkers
from streamproof.prove.scenario.scenario import Expect
from unit.prove.small import CORRECTED, DEDUPLICATED, EARLY, ONCE, PLAIN, RECORDS, WINDOW, faultless, rows_of, with_two_sinks


def test_every_checker_that_is_written_is_run():
    """One that is not named among the modules would never be asked, and nobody would miss it."""
    folder = Path(checkers.__file__).parent
    written = {
        name for path in folder.glob("*.py") for name in re.findall(r'^@checker\("([\w-]+)"\)', path.read_text(), re.MULTILINE)
    }

    assert len(written) > 10
    assert written == set(checkers.registry())


@pytest.mark.parametrize("shape", [ONCE, WINDOW, DEDUPLICATED, PLAIN, EARLY, CORRECTED])
def test_a_faultless_history_passes_every_checker(shape):
    results = run_checkers(faultless(shape, RECORDS, no_data=1, expect=Expect(late_at_most=0.5, results_by="event time")))

    assert [(result.name, result.verdict) for result in results if result.verdict is not Verdict.PASS] == []
    assert [result.name for result in results] == [
        "intake",
        "intent",
        "business-rule",
        "exactly-once",
        "account",
        "publication",
        "window-contents",
        "revisions",
        "newest-facts",
        "row-contents",
        "late-routing",
        "rejected-routing",
        "duplicate-routing",
        "made-sides",
        "watermark",
        "state-contents",
        "liveness",
        "pacing",
        "expectations",
    ]


def test_a_crashed_checker_is_unknown_and_says_why(once):
    def crashes(history):
        yield from ()
        raise KeyError("gone")

    result = run_checker("broken", crashes, once)

    assert (result.verdict, result.problem) == (Verdict.UNKNOWN, "the checker crashed: KeyError: 'gone'")
    (finding,) = result.as_dict()["findings"]
    assert (finding["code"], finding["what"]) == ("checker-crashed", result.problem)


def test_a_checker_that_found_something_fails_even_if_it_cannot_finish(once):
    def finds_and_gives_up(history):
        yield Finding("wrong", "e-1", "is wrong")
        raise CannotTell("the rest is not there")

    assert run_checker("half", finds_and_gives_up, once).verdict is Verdict.FAIL


def test_the_first_findings_are_kept_and_all_are_counted(once):
    result = run_checker("many", lambda history: (Finding("wrong", None, "wrong") for _ in range(50)), once)

    assert (len(result.findings), result.total) == (KEPT, 50)


def test_k7_what_is_wrong_with_a_query_is_one_finding_however_many_sinks_it_has(plain):
    twice = with_two_sinks(plain, "rows", rows_of(plain, "rows"))

    result = run_checker(
        "one", lambda history: (Finding("wrong", None, f"wrong with {view.name}") for view in history.queries), twice
    )

    assert (len(twice.queries), result.total, len(result.findings)) == (2, 1, 1)
