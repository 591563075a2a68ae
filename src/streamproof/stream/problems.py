"""What is said of a column that is not there, and of a step that cannot be planned."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame

from streamproof._jvm import aggregates_in_python, depending_on_order
from streamproof.config.columns import event_time_of
from streamproof.errors import JobDefinitionError
from streamproof.stream.names import own_name, visible

_TAKE_CONDITIONS = ("require(", "filter(")


def checked(rows: DataFrame, where: str, make: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """What a step makes of rows; JobDefinitionError where Spark cannot plan it."""
    try:
        return make(rows)
    except AnalysisException as problem:
        raise unknown_column(where, problem, rows.columns) from problem


def checked_column(rows: DataFrame, where: str, make: Callable[[], Column]) -> Column:
    """A column over rows; JobDefinitionError where Spark cannot plan it."""
    column: list[Column] = []

    def select(rows: DataFrame) -> DataFrame:
        column.append(make())
        return rows.select(*column)

    checked(rows, where, select)
    return column[0]


def require_columns(rows: DataFrame, names: Iterable[str], where: str) -> None:
    """JobDefinitionError for the first name that is no column of the rows."""
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise column_error(where, missing[0], rows.columns)


def require_free(names: Iterable[str], who: str) -> None:
    """JobDefinitionError for the first name that is one of ours."""
    taken = own_name(names)
    if taken is not None:
        raise JobDefinitionError(
            f"{who} makes a column {taken}, which is a name of Streamproof's own.",
            required="Its hidden columns would take the place of yours.",
            remedy="Give the column another name.",
        )


def require_no_python(aggregated: DataFrame) -> None:
    """JobDefinitionError where an aggregate is a function of Python: Spark would refuse it when the query starts."""
    if aggregates_in_python(aggregated):
        raise JobDefinitionError(
            "aggregate() calls a Python function.",
            required="Spark runs no Python while it aggregates a stream: each batch would have to hand its state to Python and back.",
            remedy="Declare it by SQL expressions, sp.accumulator(...). What only Python can say goes into transform(): before the window, as "
            "a column that is aggregated, or behind aggregate(), from what that gives.",
        )


def require_any_order(aggregated: DataFrame) -> None:
    """JobDefinitionError where an aggregate depends on the order of rows, and they are to be dealt over several tasks."""
    names = depending_on_order(aggregated)
    if names:
        raise JobDefinitionError(
            f"aggregate({names[0]}=..., spread=...) depends on the order of rows.",
            required="With spread several tasks have rows of one key, and what they make of them is put together in no order: of first, last and lists "
            "that would be another value each time.",
            remedy="Take F.min_by or F.max_by with a column that says the order, or F.sort_array(F.collect_list(...)); or leave spread out.",
        )


def needs_event_time(call: str, source: str, columns: Mapping[str, str]) -> JobDefinitionError:
    """The error for a call by event time on a source that declares none; `columns` are its own, with their types."""
    return JobDefinitionError(
        f"The job uses {call} on the source {source}, which declares no event time.",
        required="What keeps rows in state works by event time.",
        remedy=f"Add to streamproof.toml, [source.{source}]: {event_time_of(columns)}",
    )


def column_error(where: str, name: str, columns: Sequence[str]) -> JobDefinitionError:
    """The error for a column that does not exist, in one place."""
    import difflib

    shown = visible(columns)
    near = difflib.get_close_matches(name, shown, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    return JobDefinitionError(
        f'{where} needs the column "{name}", which is not there.{hint}', required=f"The columns are {', '.join(shown)}."
    )


def unknown_column(where: str, problem: AnalysisException, columns: Sequence[str]) -> JobDefinitionError:
    """The error for what Spark says of a step that it cannot plan."""
    parameters = problem.getMessageParameters() or {}
    if "objectName" in parameters and "UNRESOLVED_COLUMN" in str(problem.getCondition()):
        return column_error(where, parameters["objectName"].replace("`", ""), columns)
    said = re.sub(r"^\[[A-Z_.]+\]\s*|\s*SQLSTATE: \w+;?", "", str(problem).strip().splitlines()[0])
    conditions = "Conditions are SQL expressions or columns of type boolean. " if where.startswith(_TAKE_CONDITIONS) else ""
    return JobDefinitionError(
        f"{where} cannot be planned: {said}",
        required=f"{conditions}The columns are {', '.join(visible(columns))}.",
    )
