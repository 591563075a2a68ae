"""Every event of a run in which nothing went wrong is followed to an end that contradicts nothing, whatever the operators."""

from dataclasses import replace
from pathlib import Path

import pytest

from streamproof.prove.artifacts.history import History
from streamproof.prove.lineage.moments import Kind
from streamproof.prove.lineage.tracing import FAULT_FREE, Run
from streamproof.prove.oracle.windows import PlainHopping
from unit.prove.checkers import test_after_join, test_join
from unit.prove.lineage.recorded import run_of
from unit.prove.small import (
    CORRECTED,
    DEDUPLICATED,
    EARLY,
    ONCE,
    PLAIN,
    RECORDS,
    SECOND,
    WINDOW,
    Level,
    at,
    faultless,
)

HISTORIES = {
    "plain": faultless(PLAIN, RECORDS),
    "window": faultless(WINDOW, RECORDS, no_data=1),
    "hopping": faultless(replace(WINDOW, window=PlainHopping(30 * SECOND, 10 * SECOND)), RECORDS, no_data=1),
    "deduplicate": faultless(DEDUPLICATED, RECORDS, no_data=1),
    "ordered": faultless(replace(DEDUPLICATED, order_by="client", keep="first", within_us=10 * SECOND), RECORDS, no_data=1),
    "once": faultless(ONCE, RECORDS, no_data=1),
    "late copies": faultless(ONCE, [*RECORDS[:2], [*RECORDS[2], at("e-9+1", 7)]], no_data=1),
    "early": faultless(EARLY, RECORDS, no_data=1),
    "corrections": faultless(CORRECTED, RECORDS, no_data=1),
    "window of windows": faultless(replace(WINDOW, before=Level(WINDOW.window, ("client",), ("total",))), RECORDS, no_data=2),
    "join": test_join.history(),
    "window after a join": faultless(test_after_join.WINDOWED, test_after_join.BATCHES, reads=test_after_join.READS),
    "deduplicate after a join": faultless(test_after_join.ONCE, test_after_join.BATCHES, reads=test_after_join.READS),
}


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_p9_every_event_ends_where_the_run_has_it(tmp_path: Path, history: History) -> None:
    run = run_of(tmp_path, {FAULT_FREE: history})

    for trace in run.events:
        for way in run.event(trace)[0].ways:
            assert not way.wrong, (trace, way.moments)
            assert way.ends or any(moment.kind in (Kind.NOT_AN_OUTPUT, Kind.REMEMBERED) for moment in way.moments), (
                trace,
                way.moments,
            )


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_p9_every_row_goes_back_to_events(tmp_path: Path, history: History) -> None:
    rows = run_of(tmp_path, {FAULT_FREE: history}).rows("true")

    assert rows
    for origin in rows:
        assert origin.by == origin.row["batch"], origin
        assert origin.traces, origin
        assert origin.agrees is not False, origin


def test_p9_a_pair_of_a_join_is_told_by_both_records_and_who_is_alone_leaves(tmp_path: Path) -> None:
    run: Run = run_of(tmp_path, {FAULT_FREE: HISTORIES["join"]})

    (left,) = run.event("l-1")[0].ways
    made = [moment.about["others"] for moment in left.moments if moment.kind is Kind.MADE]
    assert made == [["r-1"], ["r-2"]]
    assert [moment.kind for moment in left.moments].count(Kind.PUBLISHED) == 2
    (alone,) = run.event("l-2")[0].ways
    assert [moment.about["side"] for moment in alone.moments if moment.kind is Kind.LEFT] == ["unmatched:left"]
    (waiting,) = run.event("l-3")[0].ways
    assert Kind.WAITS in [moment.kind for moment in waiting.moments]


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_a_row_is_looked_up_by_a_name_that_those_have_that_match(tmp_path: Path, history: History) -> None:
    for follower in run_of(tmp_path, {FAULT_FREE: history}).followers:
        for output in follower.kept.outputs:
            expected = list(follower.expected_by_batch(output))
            for row in output["rows"]:
                matching = [(batch, wanted) for batch, wanted in expected if follower.matches(row, wanted)]
                assert list(follower.given(output, row)) == matching
                if matching:
                    assert follower.times(output, row) == sum(follower.matches(one, matching[0][1]) for one in output["rows"])
