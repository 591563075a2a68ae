"""Rows of a table that hold conditions: one whose condition is none is rejected, and the former row of its name stays."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.stream.looked_up import Conditions, TableRows
from streamproof.stream.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CODES = re.compile(r"^\[[A-Z_0-9.]+\]\s*|\s*SQLSTATE: \w+;?.*$", re.DOTALL)


@dataclass(frozen=True)
class Rejected:
    """A rule that is none: its name, where it has one, the condition, why, and whether a former one stays."""

    rule: str | None
    condition: str
    why: str
    stays: bool

    @property
    def says(self) -> str:
        """What of it, as the end of a sentence that begins with the table."""
        if self.rule is None:
            return f"rejects a rule without a name: {self.why}"
        after = "its former condition stays" if self.stays else "it holds for no row until it is mended"
        return f"rejects the rule {self.rule}: {self.why.rstrip('.')}; {after}"


@dataclass(frozen=True)
class Ruled:
    """What a table has of conditions, and the rows that were used before; None where there were none."""

    conditions: Conditions
    former: "DataFrame | None" = None

    def admitted(self, table: TableRows) -> tuple[TableRows, list[Rejected]]:
        """The rows whose conditions can be used, with the former ones of those that cannot; and these."""
        from pyspark.sql import functions as F
        from pyspark.sql.types import StringType

        asked = self.conditions
        if any(name not in table.rows.columns for name in (asked.rule, asked.when)):
            return replace(table, rows=table.current, fold=None), []  # said where the plan is built
        rule, when, current = F.col(quoted(asked.rule)), F.col(quoted(asked.when)), table.current
        if not isinstance(current.schema[asked.when].dataType, StringType):
            return replace(table, rows=current, fold=None), []  # said there too
        pairs = [(row[0], row[1]) for row in current.select(rule.cast("string"), when).collect()]
        texts = sorted(row[0] for row in table.rows.select(when).where(when.isNotNull()).distinct().collect())
        problems = zip(texts, _jvm.problems_of_rules(current.sparkSession, asked.columns, texts), strict=True)
        wrong = {text: _plain(why) for text, why in problems if why}
        refused = [(name, text, _why(name, text, wrong)) for name, text in pairs]
        refused = [(name, text, why) for name, text, why in refused if why]
        # Of changes an earlier record of the rule counts then, where it can be read.
        readable = replace(table, rows=table.rows.where(when.isNull() | ~when.isin(list(wrong))))
        good = readable.current.where(when.isNotNull() & rule.isNotNull())
        if not refused:
            return replace(table, rows=good, fold=None), []
        there = {str(row[0]) for row in good.select(rule.cast("string")).collect()}
        kept = _former(self.former, good, asked.rule, sorted({name for name, _, _ in refused if name is not None} - there))
        known = there if kept is None else there | {str(row[0]) for row in kept.select(rule.cast("string")).collect()}
        rows = good if kept is None else good.unionByName(kept)
        return replace(table, rows=rows, fold=None), [Rejected(name, str(text), why, name in known) for name, text, why in refused]


def _why(name: str | None, text: str | None, wrong: Mapping[str, str]) -> str:
    """Why a rule is rejected; empty where it is not."""
    if name is None:
        return "rows say by their names which rules hold"
    return "it has no condition" if text is None else wrong.get(text, "")


def _former(former: "DataFrame | None", good: "DataFrame", rule: str, names: Sequence[str]) -> "DataFrame | None":
    """The former rows of some names, as long as they have the columns of the others."""
    from pyspark.sql import functions as F

    if former is None or not names or any(column not in former.columns for column in good.columns):
        return None
    return former.where(F.col(quoted(rule)).cast("string").isin(list(names))).select(*map(quoted, good.columns))


def _plain(said: str) -> str:
    """What Spark says of a condition, in its first line, without its codes."""
    return _CODES.sub("", said.strip().splitlines()[0]) or "it cannot be read"
