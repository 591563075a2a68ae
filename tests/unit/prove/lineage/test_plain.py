"""What is known of a record of a job that no model knows."""

import gzip
import json
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.errors import ConfigurationError
from streamproof.prove.lineage import words
from streamproof.prove.lineage.kept import FOLDER, Keeper, Kept, _text
from streamproof.prove.lineage.rows import _places
from streamproof.prove.lineage.stories import rows_alone
from streamproof.prove.lineage.tracing import FAULT_FREE, Run
from streamproof.prove.scenario.perturb import SampleEvent
from streamproof.prove.scenario.sample_records import Record
from streamproof.prove.subjects.pyspark import followed
from streamproof.prove.subjects.pyspark.reading import Batch, Left, Output
from streamproof.prove.subjects.pyspark.told import Query
from unit.prove.lineage.recorded import reported

QUERY = Query("counts", "append", "batches", "parquet", "kafka")


def run_of(folder: Path, *, masked: bool) -> Run:
    clicks = [SampleEvent(f"clicks-{n:06d}", "plain", Record(None, {"click": f"k{n}", "user": f"u{n % 2}"})) for n in range(4)]
    given: Any = SimpleNamespace(offered={"clicks": SimpleNamespace(files={"a.json": clicks[:2], "b.json": clicks[2:]})})
    batches = (Batch(0, {"clicks": ("a.json",)}, 0),)
    rows = {0: [{"user": "u0", "first": "k0"}, {"user": "u1", "first": "k1"}]}
    left = Left({"counts": batches}, (Output("counts", QUERY, rows),), (QUERY,))
    Keeper(folder / FOLDER).keep(
        FAULT_FREE, lambda: followed.events_of(given, masked=masked), lambda: followed.queries_of(left, masked=masked)
    )
    return Run(Kept(folder), [reported(FAULT_FREE)])


def told(run: Run, name: str) -> list[tuple[str, str]]:
    return [line for one in run.event(name) for line in words.event_lines(one, run.setting, run.events)]


def test_p9_a_record_is_found_by_an_id_of_its_own_with_its_batch_and_the_rows_that_hold_the_id(tmp_path: Path) -> None:
    said = dict(told(run_of(tmp_path, masked=False), "k1"))

    assert said["arrived"] == "row 2 of a.json of clicks, read by batch 0"
    assert said["same id in"] == "counts, batch 0: user u1 · first k1"
    assert said["not known"].startswith("what the job does with it")


def test_a_value_that_records_share_is_no_id(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match='There is no event "u1"'):
        run_of(tmp_path, masked=False).event("u1")


def test_a_record_that_no_batch_has_read_is_said_to_be_so(tmp_path: Path) -> None:
    assert ("WRONG", "row 1 of b.json, which no batch has read") in told(run_of(tmp_path, masked=False), "k2")


def test_rows_can_be_asked_for_and_no_model_says_what_made_them(tmp_path: Path) -> None:
    run = run_of(tmp_path, masked=False)

    (origin,) = run.rows("user = 'u1'")

    assert origin.traces == ()
    assert ("made of", "not known: the row carries no trace, and no model says which events make it") in list(
        words.row_lines(origin, run.setting, run.events)
    )


def test_decimals_of_such_rows_are_compared_as_numbers(tmp_path: Path) -> None:
    rows = {
        0: [{"user": "u0", "total": Decimal("12.50")}, {"user": "u1", "total": Decimal("9000.00")}, {"user": "u2", "total": None}]
    }

    held = json.loads(_text(rows_alone("out", rows, masked=False)))

    assert [held["rows"][place]["values"]["user"] for place in _places(held, "total > 5000")] == ["u1"]
    assert rows_alone("out", rows, masked=True)["decimals"] == []


def test_decimals_of_a_run_that_was_kept_before_are_texts_still() -> None:
    held = {"rows": [{"values": {"total": "12.50"}}], "instants": []}

    assert _places(held, "total = '12.50'") == [0]


def test_masked_values_of_a_sample_are_not_kept(tmp_path: Path) -> None:
    run = run_of(tmp_path, masked=True)

    kept = b"".join(gzip.decompress(path.read_bytes()) for path in tmp_path.rglob("*.gz"))
    assert b"clicks-000001" in kept
    assert b"k1" not in kept
    assert dict(told(run, "clicks-000001"))["arrived"].startswith("row 2 of a.json")
    with pytest.raises(ConfigurationError, match="it keeps no values") as raised:
        run.rows("user = 'u1'")
    assert "--show-values" in str(raised.value)
