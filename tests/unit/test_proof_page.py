"""The picture of a proof, folded from its events: the grid fills up, failures stand there with the command that repeats them."""

import json
from datetime import timedelta
from types import SimpleNamespace

import pytest

from streamproof.cli.prove_screen import again
from streamproof.core.verdict import Verdict
from streamproof.errors import EnvironmentProblem
from streamproof.proof_page import MOST_POINTS, ProofBoard
from streamproof.prove.events import Judged, Planned, Preparing, Proving, Recording, Started
from unit.observe.live_samples import Clock

POINTS = tuple(
    f"{phase}/{kind}@{batch}:{side}"
    for batch in (0, 1)
    for phase, kind in (("plan", "offsets"), ("work", "state.0.1"), ("publish", "exposure"), ("commit", "commits"))
    for side in ("before", "after")
)
STARTED = Started("risk_exposure", 1_000, "trades", 7, 2, "4.3.0", "local[2]")


@pytest.fixture
def told():
    clock = Clock()
    board = ProofBoard("my_job", again("my_job", None), clock)

    def tell(*events):
        for event in events:
            clock.pass_(1)
            board(event)

    return SimpleNamespace(board=board, tell=tell, clock=clock, now=lambda: dict(board.now()))


def state_of(shown, point):
    return {name: state for row in shown["rows"] for group in row["groups"] for name, state in group}[point]


def test_before_there_is_a_plan_it_says_what_is_done(told):
    assert (told.now()["word"], told.now()["why"], told.now()["rows"]) == ("preparing", "The proof starts.", [])

    told.tell(Preparing("starting Spark"))
    assert told.now()["why"] == "Starting Spark."
    told.tell(STARTED, Recording(1, 2))

    assert (told.now()["word"], told.now()["why"]) == ("recording", "The job runs without a fault, twice: 1 of 2 batches.")
    assert told.now()["job"] == "risk_exposure"


def test_the_grid_is_there_with_the_plan_and_fills_up(told):
    told.tell(STARTED, Planned(POINTS), Proving(0, 5, POINTS[0]))
    shown = told.now()

    assert (shown["batches"], [row["phase"] for row in shown["rows"]]) == ([0, 1], ["plan", "work", "publish", "commit"])
    assert shown["counts"] == {"pass": 0, "unknown": 0, "fail": 0, "untried": 16}
    assert shown["rows"][2]["groups"][1] == [["publish/exposure@1:before", "untried"], ["publish/exposure@1:after", "untried"]]

    told.tell(Judged(POINTS[0], Verdict.PASS, POINTS[:3]), Proving(1, 5, POINTS[0], 30.0))

    assert told.now()["counts"] == {"pass": 3, "unknown": 0, "fail": 0, "untried": 13}
    assert (told.now()["done"], told.now()["total"], told.now()["left_seconds"]) == (1, 5, 30.0)
    assert (told.now()["word"], told.now()["why"]) == ("proving", "1 of 5 scenarios have a verdict, and none has failed.")


def test_a_point_is_as_bad_as_the_worst_scenario_that_decides_it(told):
    told.tell(STARTED, Planned(POINTS), Proving(0, 5, POINTS[0]))
    for verdict in (Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN):
        told.tell(Judged(f"{POINTS[0]}+{verdict}", verdict, POINTS[:1], "exactly-once: trade t-1 is counted twice"))

    assert state_of(told.now(), POINTS[0]) == "fail"


def test_a_failure_is_told_at_once_with_the_command_that_repeats_it(told):
    told.tell(STARTED, Planned(POINTS), Proving(0, 5, POINTS[0]))
    told.tell(Judged("publish/exposure@1:after", Verdict.FAIL, (POINTS[13],), "exactly-once: trade t-1 is counted twice"))

    (failure,) = told.now()["troubles"]

    assert failure["what"] == "publish/exposure@1:after: exactly-once: trade t-1 is counted twice"
    assert failure["todo"] == "streamproof prove my_job --only publish/exposure@1:after --seed 7"
    assert (told.now()["word"], told.now()["why"]) == ("failing", "1 of 5 scenarios failed so far.")
    told.tell(Proving(2, 5, POINTS[3]))
    assert told.now()["word"] == "failing"


def test_steps_of_several_queries_have_rows_of_their_own(told):
    told.tell(STARTED, Planned(("a:plan/offsets@0:before", "b:plan/offsets@0:before", "of a later version")))

    assert [(row["query"], row["phase"]) for row in told.now()["rows"]] == [("a", "plan"), ("b", "plan")]


def test_thousands_of_crash_points_are_bounded_and_it_says_so(told):
    points = tuple(f"work/state.0.{number}@0:after" for number in range(5_000))

    told.tell(STARTED, Planned(points))

    assert (told.now()["size"], told.now()["not_shown"]) == (5_000, 5_000 - MOST_POINTS)
    assert len(json.dumps(told.now())) < 120_000


@pytest.mark.parametrize("verdict", list(Verdict))
def test_it_ends_with_the_verdict_and_where_the_report_is(told, verdict):
    told.tell(STARTED, Planned(POINTS), Proving(5, 5, POINTS[0]))
    told.board.done(verdict, "Nothing was lost. The report: report.html")
    told.board.close(None)

    assert (told.now()["word"], told.now()["why"]) == (str(verdict), "Nothing was lost. The report: report.html")
    assert told.now()["ended"] == "2026-01-05T09:00:03+00:00"


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (KeyboardInterrupt(), "The proof was asked to end. The report has what was finished."),
        (EnvironmentProblem("no Java\nat all", remedy="Install one."), "The proof stopped: no Java"),
    ],
)
def test_a_proof_that_stops_says_so(told, problem, why):
    told.tell(STARTED)
    told.board.close(problem)

    assert (told.now()["word"], told.now()["why"]) == ("stopped", why)
    assert [each["todo"] for each in told.now()["troubles"]] == (["Install one."] if isinstance(problem, Exception) else [])


def test_a_clock_that_jumps_moves_no_age(told):
    told.tell(STARTED)
    told.clock.pass_(20)
    told.clock.jump(timedelta(hours=-3))

    assert told.now()["for_seconds"] == 21
