"""What two runs without any fault do not have in common, and which line of the job it may come from."""

import ast
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from streamproof.core.paths import display
from streamproof.prove.artifacts.comparing import PublishedRows, sums_of, without_partners
from streamproof.prove.checkers import Finding
from streamproof.prove.subjects.pyspark.reading import Left, Row
from streamproof.prove.subjects.pyspark.told import Told

_CLOCKS = (
    "current_timestamp",
    "now",
    "current_date",
    "unix_timestamp",
    "localtimestamp",
    "utcnow",
    "today",
    "time",
    "time_ns",
    "monotonic",
)
_DICE = (
    "rand",
    "randn",
    "uuid",
    "uuid4",
    "random",
    "randint",
    "choice",
    "shuffle",
    "monotonically_increasing_id",
    "uniform",
    "token_hex",
)


class Code(StrEnum):
    """How two runs without any fault differ."""

    WALL_CLOCK = "depends-on-wall-clock"
    RANDOM_NUMBERS = "depends-on-random-numbers"
    NOT_REPEATABLE = "not-repeatable"
    OTHER_STEPS = "other-steps"


def differs_without_fault(one: Left, other: Left, told: Told, *, masked: bool) -> Iterator[Finding]:
    """A finding for each output whose rows are not the same in both runs."""
    from streamproof.prove.subjects.pyspark.checks import shown

    theirs = {output.name: output for output in other.outputs}
    for output in one.outputs:
        mine = [row for rows in output.rows.values() for row in rows]
        twin = theirs.get(output.name)
        others: list[Row] = [row for rows in twin.rows.values() for row in rows] if twin else []
        more, missing = without_partners(mine, others, {})
        if more or missing:
            code, cause, where = _cause(Path(told.file))
            example = shown((more or missing)[0], masked=masked)
            yield Finding(
                code,
                None,
                f"{cause}: {max(len(more), len(missing)):,} rows of {output.name} differ between two runs without any fault",
                None,
                "the same rows in both",
                f"such as {example}",
                where,
            )


def _cause(file: Path) -> tuple[Code, str, str]:
    """What the job's text hints at, as a code and in words, and where: a clock, dice, or nothing that can be seen."""
    try:
        calls = [node for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Call)]
    except (OSError, SyntaxError, ValueError):
        calls = []
    for names, code, cause, instead in (
        (
            _CLOCKS,
            Code.WALL_CLOCK,
            "depends on the wall clock",
            "use the event's own time: docs/incidents/processing-time-for-business-time.md",
        ),
        (_DICE, Code.RANDOM_NUMBERS, "depends on random numbers", "derive them from the event, or seed them by its id"),
    ):
        for call in calls:
            name = (
                call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""
            )
            if name in names:
                return code, cause, f"{name}() in {display(file)} line {call.lineno}; instead: {instead}"
    return (
        Code.NOT_REPEATABLE,
        "is not repeatable",
        "look for state outside Spark (a global, a file, a cache), for the wall clock, for the order of rows",
    )


def published_rows(left: Left) -> PublishedRows:
    """What the rows of each output sum up to."""
    return PublishedRows({output.name: sums_of([row for rows in output.rows.values() for row in rows]) for output in left.outputs})
