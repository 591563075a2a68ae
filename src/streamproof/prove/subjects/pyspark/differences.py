"""How two runs without any fault differ, which line of the job may be the cause, and how to leave a column out."""

import shlex
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from streamproof.core.paths import display
from streamproof.prove.artifacts.comparing import PublishedRows, sums_of, without_partners
from streamproof.prove.checkers import Finding
from streamproof.prove.subjects.pyspark.causes import cause_of
from streamproof.prove.subjects.pyspark.ignored import differing_columns
from streamproof.prove.subjects.pyspark.reading import Left, Row
from streamproof.prove.subjects.pyspark.told import Told


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
            columns = differing_columns(mine, others)
            code, cause, where = _cause(told, columns)
            example = shown((more or missing)[0], masked=masked)
            of = f", in {' and '.join(columns)} alone" if columns else ""
            yield Finding(
                code,
                None,
                f"{cause}: {max(len(more), len(missing)):,} rows of {output.name} differ between two runs without any fault{of}",
                None,
                "the same rows in both",
                f"such as {example}",
                f"{where}{_left_out(output.name, columns)}",
            )


def _cause(told: Told, columns: Sequence[str]) -> tuple[Code, str, str]:
    """What the job's text hints at, as a code and in words, and where: a clock, dice, or nothing that can be seen."""
    cause = cause_of(Path(told.file), told.function, columns)
    if cause is None:
        return (
            Code.NOT_REPEATABLE,
            "is not repeatable",
            "look for state outside Spark (a global, a file, a cache), for the wall clock, for the order of rows",
        )
    where = f"{cause.name}() in {display(cause.file)} line {cause.line}"
    if cause.is_clock:
        instead = "use the event's own time: docs/incidents/processing-time-for-business-time.md"
        return Code.WALL_CLOCK, "depends on the wall clock", f"{where}; instead: {instead}"
    return Code.RANDOM_NUMBERS, "depends on random numbers", f"{where}; instead: derive them from the event, or seed them by its id"


def _left_out(output: str, columns: Sequence[str]) -> str:
    """The options that leave the columns out, where they alone differ."""
    if not columns:
        return ""
    options = " ".join(f"--ignore {shlex.quote(f'{output}.{column}')}" for column in columns)
    return f"; if it is meant so, leave {'it' if len(columns) == 1 else 'them'} out of the comparison: {options}"


def published_rows(left: Left) -> PublishedRows:
    """What the rows of each output sum up to."""
    return PublishedRows({output.name: sums_of([row for rows in output.rows.values() for row in rows]) for output in left.outputs})
