"""What `streamproof inspect` shows of the checkpoints of jobs that keep something elsewhere: what their incident pages say is missing there."""

import io
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.report.inspect import print_inspection
from unit.checkpoint.written import kafka_checkpoint

INCIDENTS = Path(__file__).parents[3] / "docs" / "incidents"
ENDS = [{"clicks": {"0": 400}}, {"clicks": {"0": 800}}, {"clicks": {"0": 1_012}}]


def shown(checkpoint: Path) -> str:
    console = Console(file=io.StringIO(), width=200)
    print_inspection(inspect_checkpoint(checkpoint), console, datetime(2026, 1, 6, tzinfo=UTC))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_offsets_of_its_own_are_not_there_and_the_batch_that_it_takes_for_read_is_planned_and_not_committed(tmp_path):
    page = shown(kafka_checkpoint(tmp_path / "clicks", ENDS, committed=2))
    said = "Batch 2 is planned and not committed: the job runs it now, or died in it. A start runs it again."

    assert said in page
    assert said in (INCIDENTS / "offsets-before-the-write.md").read_text(encoding="utf-8")


def test_what_a_dict_holds_is_not_there_the_checkpoint_has_no_state(tmp_path):
    page = shown(kafka_checkpoint(tmp_path / "spending", ENDS, committed=3))

    assert "no state" in page
    assert "operator" not in page
    assert "`no state`" in (INCIDENTS / "state-in-a-python-dict.md").read_text(encoding="utf-8")
