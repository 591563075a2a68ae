"""Is every accumulator what a distributed aggregation needs: can its buffers be merged in any order, and rows be added in any?

Asked on the scenario's own events, a dozen at a time, in batch queries: the buffers that Spark makes, and the order in which it merges them,
differ from run to run, and a run may well show none of what is wrong.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.float_order import ANYTHING, alike
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.oracle.arrived import plain
from streamproof.prove.oracle.folds import Fold
from streamproof.prove.scenario.generate import TRACE
from streamproof.prove.subjects.job.aggregated import fold_of
from streamproof.prove.subjects.job.arrivals import Arrivals
from streamproof.stream.names import quoted

NAME = "accumulators"
_TOGETHER, _GROUPS = 12, 40
_TOLERANCE = 1e-9
_PARTS = {"a": "slice(_rows, 1, 4)", "b": "slice(_rows, 5, 4)", "c": "slice(_rows, 9, 1000)"}


class Code(StrEnum):
    """What is found here."""

    ORDER_OF_ROWS = "order-of-rows"
    MERGE_OF_PARTS = "merge-of-parts"
    NOT_COMMUTATIVE = "not-commutative"
    NOT_ASSOCIATIVE = "not-associative"
    ZERO_CHANGES = "zero-changes"
    RAISES = "raises"


@dataclass(frozen=True)
class Law:
    """Two columns that must be equal, and what is wrong where they are not."""

    code: Code
    one: str
    other: str
    what: str


LAWS = (
    Law(
        Code.MERGE_OF_PARTS,
        "whole",
        "ab_c",
        "rows added to three buffers that are merged give something else than all added to one",
    ),
    Law(Code.NOT_COMMUTATIVE, "ab", "ba", "merge gives something else when left and right are swapped"),
    Law(Code.NOT_ASSOCIATIVE, "ab_c", "a_bc", "merge is not associative: (1 with 2) with 3 is not 1 with (2 with 3)"),
    Law(Code.ZERO_CHANGES, "a", "za", "a buffer that is merged with one without a row gives something else"),
    Law(Code.ZERO_CHANGES, "a", "az", "a buffer that one without a row is merged into gives something else"),
    Law(Code.ORDER_OF_ROWS, "whole", "backwards", "the same rows added in another order give something else"),
)


def accumulator_laws(query: str, arrivals: Arrivals) -> list[Finding]:
    """What is wrong with the accumulators of a query, by its own events."""
    if not arrivals.traced:
        return []
    return [
        found for name, one in arrivals.accumulators.items() for found in _of(query, name, fold_of(one, arrivals.passed), arrivals)
    ]


def checked(findings: list[Finding]) -> CheckResult:
    """The check "accumulators"."""
    return CheckResult(NAME, Verdict.FAIL if findings else Verdict.PASS, tuple(findings), len(findings))


def _of(query: str, name: str, fold: Fold, arrivals: Arrivals) -> Iterator[Finding]:
    try:
        rows = results(fold, arrivals.passed).collect()
    except PySparkException as problem:
        what = f"the accumulator {query}.{name} raises {problem.getCondition() or type(problem).__name__}"
        yield Finding(Code.RAISES, None, what, None, "a value for any rows, also for a buffer that is merged without one")
        return
    step = arrivals.steps.get(name, 0.0)
    for law in LAWS:
        broken = next((row for row in rows if not same(plain(row[law.one]), plain(row[law.other]), step)), None)
        if broken is not None:
            what = f"the accumulator {query}.{name}: {law.what}"
            yield Finding(
                law.code,
                None,
                what,
                None,
                str(broken[law.one]),
                str(broken[law.other]),
                f"of {broken['n']} events, such as {broken['first']}",
            )


def results(fold: Fold, rows: DataFrame) -> DataFrame:
    """The results of both sides of every law, for a dozen events at a time."""
    columns = fold.columns([name for name in rows.columns if name != TRACE])
    groups = max(1, math.ceil(rows.count() / _TOGETHER))
    group = F.pmod(F.xxhash64(TRACE), F.lit(groups))
    gathered = F.array_sort(F.collect_list(F.struct(TRACE, *[quoted(column) for column in columns]))).alias("_rows")
    found = rows.withColumn("_group", group).filter(F.col("_group") < _GROUPS).groupBy("_group").agg(gathered)
    whole = {"whole": "_rows", "backwards": "reverse(_rows)", **_PARTS}
    buffers = {name: fold.over(part, columns) for name, part in whole.items()} | {"z": fold.start("_rows")}
    found = found.withColumns({name: F.expr(text) for name, text in buffers.items()})
    pairs = {"ab": ("a", "b"), "ba": ("b", "a"), "bc": ("b", "c"), "za": ("z", "a"), "az": ("a", "z")}
    found = found.withColumns({name: F.expr(fold.merged(*sides)) for name, sides in pairs.items()})
    found = found.withColumns({"ab_c": F.expr(fold.merged("ab", "c")), "a_bc": F.expr(fold.merged("a", "bc"))})
    compared = dict.fromkeys(side for law in LAWS for side in (law.one, law.other))
    ends = [F.expr(fold.of_buffer(name)).alias(name) for name in compared]
    return found.select(F.size("_rows").alias("n"), F.col(f"_rows.{TRACE}")[0].alias("first"), *ends)


def same(one: Any, other: Any, step: float) -> bool:
    """Whether two results are equal: floats to a billionth, what rounds them to its step, texts made of them always."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(same(mine, theirs, 0.0) for mine, theirs in zip(one, other, strict=True))
    return step == ANYTHING or alike(one, other, step, _TOLERANCE)
