"""The incident of docs/incidents/hot-key.md: a run says the key, and how much of the work one task has; in the correct twin no task has it."""

import json
import shutil
from pathlib import Path

import pytest

import streamproof as sp
from streamproof.runtime.watching.events import HotKey, Note, RunEvent

INCIDENT = Path(__file__).parents[2] / "examples" / "mutants" / "hot-key"
CLICKS, START = 6_000, 1_767_603_600_000


def visits(which: str, folder: Path) -> tuple[list[RunEvent], dict[str, int]]:
    """What a run says, and its account. Of ten clicks eight are of one customer; four files are one batch."""
    job = Path(shutil.copytree(INCIDENT / which, folder / which))
    data = job / "data" / "clicks"
    data.mkdir(parents=True)
    for part in range(4):
        rows = (
            {"click": f"c-{number}", "customer": "crawler" if number % 10 < 8 else f"u{number % 400}", "at": START + number * 20}
            for number in range(part, CLICKS, 4)
        )
        (data / f"{part}.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    heard: list[RunEvent] = []
    result = sp.run(job, listener=heard.append)
    assert result.account.total == CLICKS
    return heard, result.account.as_dict()


@pytest.mark.usefixtures("spark")
def test_a_run_names_the_hot_key_and_how_full_its_partition_is_and_says_nothing_of_the_twin(tmp_path: Path) -> None:
    broken, account = visits("broken", tmp_path)
    twin, same = visits("twin", tmp_path)

    assert account == same
    (said,) = (each.text for each in broken if isinstance(each, Note) and each.code == "hot-key")
    assert said.startswith(
        "One key has 80% of the rows that come to window of visits (batch 0): the one for which xxhash64(customer) = "
    )
    (found,) = (each for each in broken if isinstance(each, HotKey))
    assert found.partitions is not None
    assert found.partitions.most_rows > 0.7 * CLICKS
    assert not [each for each in twin if isinstance(each, HotKey)], "its rows are dealt over several tasks"
