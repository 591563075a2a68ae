"""The rows that reach the stateful operator of a query. A separate run keeps them, so that the rows which Spark dropped as late can be counted.

Spark counts late rows after a partial aggregation, where several are one. So the part of the plan before the operator runs once more over the same
batches, with the job's own filters and expressions. Of each row it keeps only the time that is compared with the watermark.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof._jvm import NotOne, before_state
from streamproof.prove.artifacts.row_files import rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SETTING = "streamproof.beforeState"
"""The setting of a run that keeps these rows in the place of what the job writes."""
FOLDER = "before-state"
_ABOUT = "about.json"


@dataclass(frozen=True)
class Reached:
    """The rows that reached the operator of a query.

    Parameters
    ----------
    batches
        By batch the rows: the time that decides, and the event's own time, in microseconds since 1970.
    why_not
        Why they are not known, as the end of a sentence; empty where they are.
    """

    delay_ms: int = 0
    batches: tuple[tuple[int, tuple[tuple[int | None, int | None], ...]], ...] = ()
    why_not: str = ""


def rows_before_state(frame: "DataFrame", folder: Path, query: str) -> "DataFrame | None":
    """The rows that reach the operator, as a stream; None where the plan does not say, and then why is written down."""
    about = folder / FOLDER / query / _ABOUT
    about.parent.mkdir(parents=True, exist_ok=True)
    try:
        found = before_state(frame)
    except NotOne as why:
        about.write_text(json.dumps({"why_not": str(why)}))
        return None
    except Exception as problem:  # noqa: BLE001 -- a plan of another version of Spark: what is not known is said, and nothing stops
        about.write_text(json.dumps({"why_not": f"Spark's plan could not be read: {type(problem).__name__}"}))
        return None
    about.write_text(json.dumps({"delay_ms": found.delay_ms}))
    return found.rows


def reached(folder: Path, query: str) -> Reached:
    """What a run has kept of a query."""
    place = folder / FOLDER / query
    if not (place / _ABOUT).is_file():
        return Reached(why_not="the query did not start in a run of its own")
    about = json.loads((place / _ABOUT).read_text())
    batches = sorted((int(batch.name.partition("=")[2]), batch) for batch in place.glob("batch=*"))
    rows = tuple(
        (number, tuple((row["decides"], row["own"]) for file in sorted(batch.glob("*.parquet")) for row in rows_of(file)))
        for number, batch in batches
    )
    return Reached(about.get("delay_ms", 0), rows, about.get("why_not", ""))
