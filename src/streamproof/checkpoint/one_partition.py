"""A condition that names one key needs one partition: which one, and a checkpoint that has it alone.

Spark keeps a key in the partition that the hash of its columns names. Its state reader reads every partition, and opens a store for each.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.checkpoint.folder import COMMITS, STATE, list_names, read_text
from streamproof.checkpoint.stores import DEFAULT, Operator

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HASHED: Mapping[str, int] = {
    "stateStoreSave": 0,
    "sessionWindowStateStoreSaveExec": 1,
    "dedupe": 0,
    "dedupeWithinWatermark": 0,
    "flatMapGroupsWithState": 0,
    "applyInPandasWithState": 0,
}
"""By the name that Spark has for an operator, how many columns at the end of its key are not among those that its rows are spread by."""
_WHOLE: Mapping[str, int] = {"bigint": 63, "int": 31, "smallint": 15, "tinyint": 7}
"""By type of whole numbers, the bits that a number has beside its sign."""


def named_partition(spark: "SparkSession", operator: Operator, condition: str) -> int | None:
    """The partition that a key lies in which a condition names with all of its columns; None where it does not, or where that is not known."""
    partitions = len({store.partition for store in operator.stores})
    key = operator.schemas[0].key if len(operator.schemas) == 1 and operator.name in HASHED else ()
    columns = key[: len(key) - HASHED.get(operator.name, 0)]
    if partitions < 2 or not columns or any(store.name != DEFAULT for store in operator.stores):
        return None
    given = _equal_to(condition)
    values = []
    for column in columns:
        value = given.get(column.name.lower())
        if not _is_of(value, column.type):
            return None
        values.append((value, column.type))
    from pyspark.sql import functions as F

    hashed = F.pmod(F.hash(*(F.lit(value).cast(type_) for value, type_ in values)), F.lit(partitions))
    return int(spark.range(1).select(hashed).collect()[0][0])


def _is_of(value: str | int | None, type_: str) -> bool:
    """Whether a column of a type can have a value: Spark casts no number that does not fit, and no key is equal to it."""
    if type_ == "string":
        return isinstance(value, str)
    return isinstance(value, int) and type_ in _WHOLE and value < 1 << _WHOLE[type_]


def _equal_to(condition: str) -> Mapping[str, str | int]:
    """By name in small letters, the columns that a condition says to be equal to a text or a whole number, whatever else it says."""
    import sqlglot
    from sqlglot import exp

    try:
        tree = sqlglot.parse_one(condition, read="spark")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return {}
    found: dict[str, str | int] = {}
    for part in tree.flatten() if isinstance(tree, exp.And) else [tree]:
        part = part.unnest()
        if not isinstance(part, exp.EQ):
            continue
        sides = (part.this, part.expression)
        column = next((side for side in sides if isinstance(side, exp.Column) and not side.table), None)
        literal = next((side for side in sides if isinstance(side, exp.Literal)), None)
        if column is None or literal is None:
            continue
        if literal.is_string:
            found[column.name.lower()] = literal.this
        elif literal.this.isdigit():
            found[column.name.lower()] = int(literal.this)
    return found


def with_one_partition(checkpoint: Path, operator: Operator, partition: int, batch: int, links: Path) -> Path:
    """A folder of links to a checkpoint, made at `links`, in which an operator has one partition alone: there its number is 0."""
    of = f"{operator.number}"
    for name in list_names(checkpoint):
        if name not in (STATE, COMMITS):
            _link(checkpoint / name, links / name)
    for name in list_names(checkpoint / COMMITS):
        if name != str(batch):
            _link(checkpoint / COMMITS / name, links / COMMITS / name)
    commit = read_text(checkpoint / COMMITS / str(batch)) or ""
    _write(links / COMMITS / str(batch), _with_ids_of(commit, of, partition))
    state = checkpoint / STATE / of
    for name in list_names(checkpoint / STATE):
        if name != of:
            _link(checkpoint / STATE / name, links / STATE / name)
    for name in list_names(state):
        if not name.isdigit():
            _link(state / name, links / STATE / of / name)
    for name in list_names(state / str(partition)):
        _link(state / str(partition) / name, links / STATE / of / "0" / name)
    if partition:
        _link(state / "0" / "_metadata", links / STATE / of / "0" / "_metadata")
    return links


def _with_ids_of(commit: str, operator: str, partition: int) -> str:
    version, _, text = commit.partition("\n")
    said = json.loads(text or "{}")
    ids = said.get("stateUniqueIds") or {}
    if operator in ids:
        said["stateUniqueIds"] = {**ids, operator: [ids[operator][partition]]}
    return f"{version}\n{json.dumps(said, separators=(',', ':'))}"


def _link(to: Path, link: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists() and to.exists():
        link.symlink_to(to)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
