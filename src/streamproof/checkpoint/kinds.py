"""What Spark's stateful operators are called by people, by the name that Spark writes into a checkpoint."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """An operator in words: what it is, and what one row of its state is ("open window", "key")."""

    word: str
    row: str


KINDS: Mapping[str, Kind] = {
    "stateStoreSave": Kind("aggregate", "open group"),
    "sessionWindowStateStoreSaveExec": Kind("session windows", "open session"),
    "dedupe": Kind("deduplicate, without an end", "key"),
    "dedupeWithinWatermark": Kind("deduplicate", "key"),
    "symmetricHashJoin": Kind("join of two streams", "row"),
    "globalLimit": Kind("limit", "count"),
    "flatMapGroupsWithState": Kind("keyed state", "key"),
    "applyInPandasWithState": Kind("keyed state in pandas", "key"),
    "transformWithStateExec": Kind("transformWithState", "row"),
    "transformWithStateInPySparkExec": Kind("transformWithState in Python", "row"),
    "transformWithStateInPandasExec": Kind("transformWithState in pandas", "row"),
}


def kind_of(name: str) -> Kind:
    """The words for an operator; its own name where none are known, "not named" where the checkpoint does not say it."""
    return KINDS.get(name) or Kind(name or "not named in this checkpoint", "row")
