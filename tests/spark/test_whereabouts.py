"""Where the records of a key are in a job that has run: outputs, side outputs with the reason, and state."""

from collections.abc import Callable
from typing import Any

import pytest

from spark.small_job import SUMS, WINDOWED, Binding, SmallJob, event
from streamproof.errors import ConfigurationError
from streamproof.whereabouts import Found, Whereabouts, _Looking, whereabouts


@pytest.fixture
def ran(small_job: Callable[..., SmallJob]) -> SmallJob:
    """Of client c: a window that is closed, one that is open, a late record and a rejected one; of client d nothing of it."""
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1, client="c"), event("e2", 2, client="d"), event("bad", 3, v=-1, client="c")])
    job.feed([event("e3", 100, client="c")])
    job.feed([event("e4", 101, client="d")])
    job.feed([event("late", 5, client="c")])
    job.run()
    return job


def looked(job: SmallJob, where: str, **more: Any) -> Whereabouts:
    return whereabouts(job.folder, where, spark=job.spark, **more)


def by_place(found: Whereabouts) -> dict[str, Found]:
    assert len({one.where for one in found.found}) == len(found.found), "one of each"
    return {one.where: one for one in found.found}


def test_a_key_is_found_where_its_records_are(ran: SmallJob) -> None:
    found = by_place(looked(ran, "client = 'c'"))

    assert found.keys() == {"sums", "late", "rejected", "operator 0, aggregate"}
    closed, late, rejected, opened = (found[name] for name in ("sums", "late", "rejected", "operator 0, aggregate"))
    assert (closed.batch, closed.says, closed.row["total"]) == (2, "published", 1.0)
    assert (late.batch, late.row["id"]) == (3, "late")
    assert late.says == (
        "late: its event time 2026-01-05 09:00:05.000 UTC is 85.000 s before the watermark, 2026-01-05 09:01:30.000 UTC"
    )
    assert (rejected.batch, rejected.says) == (0, "rejected: v >= 0")
    assert (opened.row["client"], opened.row["records"]) == ("c", 1)
    assert opened.says == "in state, as an open group; the watermark is 2026-01-05 09:01:31.000 UTC"


def test_what_has_no_such_column_is_said_and_what_is_not_there_is_not_found(ran: SmallJob) -> None:
    found = looked(ran, "id = 'late'")

    assert [one.where for one in found.found] == ["late"]
    assert found.not_looked_at["sums"].startswith("its columns are ")
    assert "client" in found.not_looked_at["sums"]
    assert looked(ran, "client = 'nobody'").found == []


def test_more_than_the_limit_is_said(ran: SmallJob) -> None:
    found = looked(ran, "client IN ('c', 'd')", limit=1)

    assert [one.where for one in found.found] == ["sums", "late", "rejected", "operator 0, aggregate"]
    assert found.more == ["sums", "sums, operator 0, aggregate"]


def test_a_condition_that_is_no_sql_is_refused(ran: SmallJob) -> None:
    with pytest.raises(ConfigurationError, match='"client = " is no condition: Syntax error') as raised:
        looked(ran, "client = ")

    assert "SQLSTATE" not in raised.value.message


@pytest.mark.parametrize("where", ["client = 17", "client = 17 AND records IS NOT NULL"], ids=["output", "state alone"])
def test_a_condition_that_a_row_does_not_go_with_is_said_and_the_state_is_not_blamed(ran: SmallJob, where: str) -> None:
    with pytest.raises(ConfigurationError, match=r"does not go with a row: The value '[cd]' of the type") as raised:
        looked(ran, where)

    assert where in raised.value.message
    assert "try_cast" in str(raised.value)


def test_decimals_keep_all_of_their_digits(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(SUMS, WINDOWED)
    looking = _Looking(None, "total > 5000", 1, job.spark, print)  # type: ignore[arg-type]
    frame = job.spark.sql("SELECT * FROM VALUES (1234567890123456.78BD, 0.1D), (9000.00BD, 2D), (1.00BD, 3D) AS (total, rate)")

    (row,) = looking._holding("sums", frame)

    assert (str(row["total"]), row["rate"]) == ("1234567890123456.78", 0.1)
    found = Found("sums", "sums", 0, "published", "published", row)
    assert found.as_dict()["row"] == {"total": "1234567890123456.78", "rate": 0.1}
    assert looking.more == ["sums"]


def test_of_a_job_that_has_not_run_it_says_that_nothing_is_there(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(SUMS, Binding(sinks=WINDOWED.sinks))

    found = looked(job, "client = 'c'")

    assert found.found == []
    assert found.not_looked_at["sums"] == "nothing is published there yet"
    assert "the state of sums" in found.not_looked_at
