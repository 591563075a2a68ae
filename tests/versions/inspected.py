"""Whether `inspect` shows of each checkpoint that `states.py` has written what has to be in it by the data of its job.

As a program it reads the checkpoints below a folder with the Spark beside it:

    python -m versions.inspected FOLDER [--only 'windows*']
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import streamproof as sp
from streamproof.errors import EnvironmentProblem, StreamproofError
from versions.states import KINDS, MATCHED, Kind

YES, NO_READER = "yes", "Spark has no reader"
_HOUR_MS = 3_600_000
_SHOWN = 2


def differs(kind: Kind, checkpoint: Path) -> str:
    """In which way what `inspect` shows is not what is there; "" where it is."""
    found = sp.inspect(checkpoint)
    said = found.found
    if said.notes:
        return f"notes: {said.notes}"
    if unnamed := [number for number, name in found.operators.items() if not name]:
        return f"operators without a name: {unnamed}"
    holds = kind.holds()
    if {*found.operators} != {int(name.split()[0]) for name in holds}:
        return f"the operators are {dict(found.operators)}"
    planned = [batch.planned_ms for batch in said.batches]
    for name, (columns, wanted) in holds.items():
        number, _, variable = name.partition(" ")
        rows = found.operator(int(number), variable=variable or None).rows()
        if MATCHED not in columns and (others := {key for row in rows for key in row} ^ {*columns, "partition"}):
            return f"{name}: the columns differ by {sorted(others)}"
        there = Counter(_cells(row, columns, planned) for row in rows)
        expected = Counter(tuple(map(_cell, row)) for row in wanted)
        if there != expected:
            missing, more = [*(expected - there).elements()], [*(there - expected).elements()]
            return f"{name}: {len(missing)} rows are missing, {missing[:_SHOWN]}; {len(more)} are there instead, {more[:_SHOWN]}"
    variables = {name.partition(" ")[2] for name in holds} - {""}
    if variables:
        every = Counter(row["variable"] for row in found.operator(0).rows())
        counts = {name.partition(" ")[2]: len(rows) for name, (_, rows) in holds.items()}
        if every != counts:
            return f"all variables: {dict(every)}, and not {counts}"
    return ""


def _cells(row: dict[str, Any], columns: Sequence[str], planned: Sequence[int]) -> tuple[Any, ...]:
    return tuple(_value(row, column, planned) for column in columns)


def _value(row: dict[str, Any], column: str, planned: Sequence[int]) -> Any:
    if column == MATCHED:
        return row["matched"] if row["side"] == "left" else None
    value = row.get(column, f"no column {column}")
    if column == "expires_at" and isinstance(value, str) and _ms(value) - _HOUR_MS in planned:
        return "an hour"
    return value


def _ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1_000)


def _cell(value: Any) -> Any:
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if isinstance(value, datetime) else value


def looked_at(folder: Path, only: str) -> Iterator[tuple[str, str, str]]:
    """Kind, store, and "yes" or in which way it is not what is there."""
    for path in sorted((folder / "checkpoints").glob("*/*")):
        name, store = path.parent.name, path.name
        if not fnmatch(f"{name}/{store}", only):
            continue
        try:
            said = differs(KINDS[name], path) or YES
        except EnvironmentProblem as problem:
            said = NO_READER if "has a reader for it since" in problem.message else problem.message
        except StreamproofError as problem:
            said = f"{type(problem).__name__}: {problem}"
        except Exception as problem:  # noqa: BLE001 -- whatever it is, the others are looked at
            said = f"a trace: {type(problem).__name__}: {' '.join(str(problem).split())[:400]}"
        yield name, store, said


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m versions.inspected", description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--only", default="*", help="a glob over KIND/STORE")
    given = asked.parse_args()
    sound = True
    for name, store, said in looked_at(given.folder, given.only):
        print(json.dumps({"kind": name, "store": store, "said": said}), flush=True)
        sound = sound and said == YES
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
