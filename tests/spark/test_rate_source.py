"""The rate source: what it makes is accounted for by its offsets, and a restart goes on where it was."""

import threading
from collections.abc import Callable

import pytest

from spark.small_job import Binding, SmallJob
from streamproof.runtime.watching.events import BatchCommitted, RunEvent

COUNTED = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(even="value % 2 = 0")
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""


@pytest.mark.full
def test_every_row_is_made_once_across_starts(small_job: Callable[..., SmallJob]) -> None:
    table = {"connector": "rate", "rows_per_second": 50}
    job = small_job(COUNTED, Binding(schema=None, event_time="", trigger="100 milliseconds", tables={"source.events": table}))
    read = 0
    for _ in range(2):
        end = threading.Event()

        def hear(event: RunEvent, end: threading.Event = end) -> None:
            if isinstance(event, BatchCommitted) and event.counts["input"]:
                end.set()

        read += job.run(end=end, listener=hear).rows_in

    values = sorted(row["value"] for name in ("kept", "rejected") for row in job.rows(name))
    assert values == list(range(read))
    assert read >= 100, "50 in each start at least"
