"""The twin of rules: each is the user's condition, held against every row by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamproof.prove.oracle.operators.twin import OneByOne, Twin
from streamproof.prove.oracle.tables import PlainTable


@dataclass(frozen=True)
class Rules(Twin):
    """Adds the names of the rules that hold for a row.

    Parameters
    ----------
    rule, when
        The columns of the table with the name of a rule, and with its condition.
    into
        The name of the column that is added.
    """

    table: str
    rule: str
    when: str
    into: str

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Rules":
        return cls(given["table"], given["rule"], given["when"], given["into"])

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.table,)

    def applied(self, rows: OneByOne) -> OneByOne:
        return rows.ruled(self)

    def conditions(self, table: PlainTable) -> Sequence[tuple[str, str]]:
        """The name and the condition of each rule of a table, in the order of the names; a row without one of them is no rule."""
        return sorted(
            (str(row[self.rule]), str(row[self.when])) for row in table.rows if None not in (row[self.rule], row[self.when])
        )
