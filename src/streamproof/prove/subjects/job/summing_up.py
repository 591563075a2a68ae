"""The account and the batches of a run of ours, for the report."""

from collections.abc import Sequence
from typing import Any

from streamproof.core.account import PLACES
from streamproof.core.clock import from_micros
from streamproof.prove.artifacts.history import History
from streamproof.prove.checkers import CannotTell
from streamproof.prove.checkers.account import found_places


def account_of(history: History) -> dict[str, int]:
    """By place how many (record, window) pairs the first query has; only its input where the places cannot be told.

    `expanded` says how many of them are further windows of a record, where windows overlap.
    """
    view = history.queries[0]
    expanded = view.model.places["expanded"].count
    account = {"input": view.model.places["input"].count + expanded, **({"expanded": expanded} if expanded else {})}
    try:
        places = found_places(view)
    except CannotTell:
        return account
    return account | {place: places[place].count for place in PLACES}


def batches_of(history: History, rerun: Sequence[int]) -> list[dict[str, Any]]:
    """The batches of the first query; those in `rerun` had two attempts."""
    view = history.queries[0]
    return [
        {
            "batch": read.batch,
            "watermark": from_micros(read.watermark_ms * 1_000).isoformat() if read.watermark_ms else None,
            "rows": sum(len(history.offered.traces_of_file.get(name, ())) for name in read.files),
            "files": len(read.files),
            "attempts": 2 if read.batch in rerun else 1,
        }
        for read in view.left.batches
    ]
