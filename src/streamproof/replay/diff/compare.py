"""Compares two sides: finds their outputs, reads them, and puts together what the rows say."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamproof import _jvm
from streamproof.config.problems import did_you_mean
from streamproof.errors import ConfigurationError
from streamproof.replay.diff.columns import Compared, Plan, named, planned, sides_as
from streamproof.replay.diff.folders import Folders, LocalFolders
from streamproof.replay.diff.reading import read_rows, unreadable
from streamproof.replay.diff.result import Apart, Column, Counts, Diff, OutputDiff
from streamproof.replay.diff.rows import Wanted, compared_rows, count_and_sums, newest_of, sums_of, with_several
from streamproof.replay.diff.sides import Rows, is_remote, outputs_of

FLOATS = 1e-9
"""How far floats may be apart unless the user says otherwise: the order of addition is not fixed."""


@dataclass(frozen=True)
class Asked:
    """What the user wants to know.

    Parameters
    ----------
    key
        The columns that say which rows belong together.
    tolerance
        How far numbers may be apart; None lets floats differ by a billionth, and nothing else.
    newest
        Of several rows with the same key the one that is highest in this column counts.
    ignored
        Columns that are not compared.
    output
        One output alone.
    shown
        So many rows of each kind are collected.
    """

    key: Sequence[str] = ()
    tolerance: float | None = None
    newest: str | None = None
    ignored: Sequence[str] = ()
    output: str | None = None
    shown: int = 20


def found_outputs(a: str, b: str, asked: Asked, spark: SparkSession | None = None) -> tuple[dict[str, Rows], dict[str, Rows]]:
    """The outputs of both sides; without a session where both lie on this machine, so that what is missing is said at once.

    Raises
    ------
    ConfigurationError
        If a side is none, or has not the output that is asked for.
    """
    left, right = (outputs_of(place, _folders(place, spark)) for place in (a, b))
    if asked.output is not None:
        for place, outputs in ((a, left), (b, right)):
            if asked.output not in outputs:
                names = [name for name in outputs if name]
                raise ConfigurationError(
                    f'--output {asked.output}: {place} has no output "{asked.output}".{did_you_mean(asked.output, names)}',
                    required=f"It has {', '.join(names)}." if names else "It is one output by itself.",
                )
        left, right = ({asked.output: outputs[asked.output]} for outputs in (left, right))
    if len(left) == len(right) == 1:  # whatever they are called
        name = asked.output or ""
        return {name: next(iter(left.values()))}, {name: next(iter(right.values()))}
    for place, outputs, other in ((a, left, b), (b, right, a)):
        if set(outputs) == {""}:
            several = right if outputs is left else left
            raise ConfigurationError(
                f"{place} is one output, and {other} has several: {', '.join(several)}.",
                required="One output is compared with one, several with several.",
                remedy=f"Name the folder of one of them: {other.rstrip('/')}/{next(iter(several))}",
            )
    return left, right


def compare(spark: SparkSession, a: str, b: str, asked: Asked) -> Diff:
    """How two sides compare.

    Parameters
    ----------
    a, b
        Folders with an output, with several, with plain files, or of a job.

    Raises
    ------
    ConfigurationError
        If a side cannot be read, or the key is not in both.
    """
    left, right = found_outputs(a, b, asked, spark)
    both = [name for name in left if name in right]
    if not both:
        raise ConfigurationError(
            f"{a} and {b} have no output in common: {', '.join(left)} and {', '.join(right)}.",
            required="Outputs are compared by their names.",
        )
    outputs = []
    for name in both:
        try:
            outputs.append(_output(spark, name, left[name], right[name], asked))
        except Exception as problem:
            if not _jvm.is_of_spark(problem):
                raise
            raise unreadable(f"{left[name].place} or {right[name].place}", problem) from problem
    tolerance = FLOATS if asked.tolerance is None else asked.tolerance
    return Diff(a, b, tolerance, outputs, tuple(sorted(left.keys() - right)), tuple(sorted(right.keys() - left)))


def _folders(place: str, spark: SparkSession | None) -> Folders:
    return _jvm.Storage(spark) if is_remote(place) and spark is not None else LocalFolders()


def _output(spark: SparkSession, name: str, left: Rows, right: Rows, asked: Asked) -> OutputDiff:
    a, b = _of_one_schema(spark, read_rows(spark, left), read_rows(spark, right))
    key = _key(asked.key, a, b, (left, right))
    notes = [*_of_published(left, "A"), *_of_published(right, "B")]
    if asked.newest is not None:
        a, b = _newest(asked.newest, key, a, b, (left.format, right.format))
    plan = planned(a, b, (left.format, right.format), asked.ignored)
    plan = _without_unreadable(plan, a, b, (left.format, right.format))
    _require_comparable(plan, key, a, b)
    sides = sides_as(plan, a, b)
    key = [column.name for column in plan.compared if column.name.lower() in {each.lower() for each in key}]
    mine, sums_a = count_and_sums(sides["a"], plan.compared, key)
    theirs, sums_b = count_and_sums(sides["b"], plan.compared, key)
    found = compared_rows(sides["a"], sides["b"], plan.compared, _wanted(plan.compared, key, asked))
    several = (with_several(sides["a"], key), with_several(sides["b"], key))
    if any(several) and asked.newest is None and any(column.name.lower() == "revision" for column in plan.compared):
        notes.append("Keys have several rows, and there is a column revision: --newest revision takes the last of each.")
    return OutputDiff(
        name=name,
        places=(left.place, right.place),
        key=key,
        columns=[column.name for column in plan.compared],
        counts=Counts((mine, theirs), mine - found.only_a - found.different, found.only_a, found.only_b, found.different, several),
        apart=plan.apart,
        by_column=found.by_column,
        sums=sums_of(sums_a, sums_b),
        shown=found.shown,
        notes=(*notes, *_of_texts(plan, (left.format, right.format)), *plan.notes.values()),
    )


def _wanted(columns: Sequence[Compared], key: Sequence[str], asked: Asked) -> Wanted:
    floats_only = asked.tolerance is None
    tolerance = FLOATS if asked.tolerance is None else asked.tolerance
    loose = [
        column.name
        for column in columns
        if tolerance and column.name not in key and column.number and (column.floating or not floats_only)
    ]
    return Wanted(key, tolerance, loose, asked.shown)


def _of_one_schema(spark: SparkSession, a: DataFrame, b: DataFrame) -> tuple[DataFrame, DataFrame]:
    """A side without a row has no columns to be read: it is given those of the other."""
    if not a.columns:
        a = spark.createDataFrame([], b.schema)
    if not b.columns:
        b = spark.createDataFrame([], a.schema)
    return a, b


def _key(wanted: Sequence[str], a: DataFrame, b: DataFrame, sides: tuple[Rows, Rows]) -> list[str]:
    for name in wanted:
        for rows, side in ((a, sides[0]), (b, sides[1])):
            if name.lower() not in {column.lower() for column in rows.columns}:
                raise ConfigurationError(
                    f'--key {name}: {side.place} has no column "{name}".{did_you_mean(name, rows.columns)}',
                    required=f"It has {', '.join(rows.columns) or 'no column at all'}.",
                )
    return list(wanted)


def _newest(column: str, key: Sequence[str], a: DataFrame, b: DataFrame, formats: tuple[str, str]) -> tuple[DataFrame, DataFrame]:
    if not key:
        raise ConfigurationError("--newest is given without --key.", required="It chooses among the rows with the same key.")
    has = [column.lower() in {name.lower() for name in rows.columns} for rows in (a, b)]
    if not any(has):
        raise ConfigurationError(
            f'--newest {column}: neither side has a column "{column}".{did_you_mean(column, a.columns)}',
            required=f"A has {', '.join(a.columns)}.",
        )
    first, second = (
        newest_of(rows, key, column, texts=format_ == "csv") if there else rows
        for rows, there, format_ in zip((a, b), has, formats, strict=True)
    )
    return first, second


def _without_unreadable(plan: Plan, a: DataFrame, b: DataFrame, formats: tuple[str, str]) -> Plan:
    """The plan without the columns whose texts on one side cannot all be read as what the other side has.

    In CSV an empty text in quotes is a null of another type: some write all fields in quotes.
    """
    bad: set[str] = set()
    for side, rows, nothing in zip("ab", (a, b), ([""] if form == "csv" else [] for form in formats), strict=True):
        texts = [column for column in plan.compared if column.text_side == side]
        if not texts:
            continue
        (found,) = rows.agg(
            *(F.count_if(_says(one.name, nothing) & (one.a if side == "a" else one.b).isNull()).alias(one.name) for one in texts)
        ).collect()
        bad |= {one.name for one in texts if found[one.name]}
    apart = [_apart(column, a.schema, b.schema) for column in plan.compared if column.name in bad]
    notes = {name: said for name, said in plan.notes.items() if name not in bad}
    return Plan([column for column in plan.compared if column.name not in bad], [*plan.apart, *apart], notes)


def _says(name: str, nothing: Sequence[str]) -> Expression:
    text = named(name)
    return text.isNotNull() & ~text.isin(*nothing) if nothing else text.isNotNull()


def _apart(column: Compared, a: StructType, b: StructType) -> Column:
    types = tuple(
        next(field.dataType.simpleString() for field in schema.fields if field.name.lower() == column.name.lower())
        for schema in (a, b)
    )
    return Column(column.name, Apart.OTHER_TYPES, (types[0], types[1]))


def _require_comparable(plan: Plan, key: Sequence[str], a: DataFrame, b: DataFrame) -> None:
    for name in key:
        found = next((column for column in plan.apart if column.name.lower() == name.lower()), None)
        if found is not None:
            raise ConfigurationError(
                f"--key {name}: it is {found.types[0]} in A and {found.types[1]} in B.",
                required="A key has the same type on both sides, or one that can be read as the other.",
            )
    if not plan.compared:
        raise ConfigurationError(
            f"The sides have no column to compare: A has {', '.join(a.columns) or 'none'}, B has {', '.join(b.columns) or 'none'}.",
            required="At least one column has the same name on both sides, and a type that can be compared.",
        )


def _of_texts(plan: Plan, formats: tuple[str, str]) -> list[str]:
    if formats == ("csv", "csv"):
        return ["Both sides are CSV: their fields are compared as texts, so 7 and 007 differ, and 1 and 1.0 too."]
    for side, other, format_ in (("A", "B", formats[0]), ("B", "A", formats[1])):
        if format_ == "csv" and any(column.text_side == side.lower() for column in plan.compared):
            return [f"The fields of CSV are texts: those of {side} are read as the types that {other} has."]
    return []


def _of_published(rows: Rows, side: str) -> list[str]:
    if not rows.left:
        return []
    what = "1 batch has" if rows.left == 1 else f"{rows.left:,} batches have"
    return [f"{what} no ledger in {side} ({rows.place}): not published, and left out."]
