"""Rules that are data: each row goes on with the names of those that hold for it. They come by a table, and can change with every batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.errors import JobDefinitionError
from streamproof.stream.known import Known, Look
from streamproof.stream.looked_up import Conditions, Use
from streamproof.stream.names import RULES, quoted, visible
from streamproof.stream.operators.operator import Operator, RowWise

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors

FAILED = "_failed"
"""What the name of the column ends with that has the rules that fail on a row."""


@dataclass(frozen=True)
class Rules(RowWise):
    """Adds two columns: the names of the rules that hold for a row, and of those that fail on it.

    Parameters
    ----------
    rule, when
        The columns of the table with the name of a rule, and with its condition.
    into
        The name of the first column that is added; that of the second is the same with `FAILED` behind it.
    """

    table: str
    rule: str
    when: str
    into: str

    @property
    def uses(self) -> Sequence[Use]:
        return (Use(self.table, (self.rule,), (self.when,), call=self.call),)

    @property
    def call(self) -> str:
        """How errors call it."""
        return f'rules("{self.table}")'

    def streaming(self, rows: "DataFrame", doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F
        from pyspark.sql.types import StringType, StructType

        from streamproof._jvm import rules_holding
        from streamproof.stream.problems import require_columns

        added = (self.into, f"{self.into}{FAILED}")
        taken = next((name for name in added if name.lower() in map(str.lower, rows.columns)), None)
        if taken is not None:
            raise JobDefinitionError(
                f"{self.call} adds the column {taken}, which the stream has already.", remedy='Choose another name: into="...".'
            )
        shown = visible(rows.columns)
        columns = StructType([rows.schema[name] for name in shown])
        table = doors.table(self.table, Conditions(self.rule, self.when, columns.json()))
        require_columns(table.rows, (self.rule, self.when), f"{self.call}: the table")
        if not isinstance(type_ := table.rows.schema[self.when].dataType, StringType):
            raise JobDefinitionError(
                f"{self.call}: the column {self.when} of the table is {type_.simpleString()}.",
                required="It has conditions in SQL, which are texts.",
                remedy='Name the column that has them: when="...".',
            )
        one = F.struct(F.col(quoted(self.rule)).cast("string").alias("name"), F.col(quoted(self.when)).alias("condition"))
        all_of_them = table.rows.agg(F.collect_list(one).alias(RULES))
        found = rules_holding(rows.sparkSession, columns, F.struct(*map(quoted, shown)), F.col(RULES))
        asked = rows.crossJoin(F.broadcast(all_of_them)).withColumn(RULES, found)
        holds, fails = (F.col(f"{RULES}.{name}").alias(made) for name, made in zip(("holds", "fails"), added, strict=True))
        return asked.select(*map(quoted, rows.columns), holds, fails)

    def is_same(self, other: Operator) -> bool:
        """No: two queries can use two versions of the rules in batches that read one record, and a requirement that stands after can differ."""
        return False

    def columns(self, known: Known, look: Look) -> Known:
        return known.with_column(self.into).with_column(f"{self.into}{FAILED}")


def rules_of(table: Any, rule: Any, when: Any, into: Any) -> Rules:
    """JobDefinitionError unless the arguments of rules() make sense."""
    if not isinstance(table, str) or not table.isidentifier():
        raise JobDefinitionError(
            f"rules() got {table!r} for a table.",
            required="It takes the name of a [table.NAME] of the configuration.",
            remedy='For example: rules("fraud_rules", rule="rule_id", when="condition").',
        )
    for name, given in (("rule", rule), ("when", when), ("into", into)):
        if not isinstance(given, str) or not given:
            raise JobDefinitionError(
                f'rules("{table}", {name}=...) got a {type(given).__name__}.', required="It takes the name of a column."
            )
    if not into.isidentifier() or into.startswith("_"):
        raise JobDefinitionError(
            f'rules("{table}", into={into!r}): the name of a column is a word that does not begin with an underscore.'
        )
    return Rules(table, rule, when, into)
