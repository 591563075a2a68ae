"""Tables as they are now, where nothing is kept of them: a bounded run, and a look at the plan of a job."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from streamproof.connectors.lookups import read_table, reading
from streamproof.runtime.tables.conditions import Ruled
from streamproof.runtime.tables.fitness import require_fit
from streamproof.stream.looked_up import Conditions, TableRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.runtime.binding.bound import BoundQuery


def tables_now(
    query: "BoundQuery", spark: "SparkSession", *, looked_at: bool = True
) -> Callable[[str, Conditions | None], TableRows]:
    """Gives the tables that a query looks rows up in, each read when it is asked for.

    Parameters
    ----------
    looked_at
        Whether their rows are looked through: two rows of one key are refused.
    """

    def table(name: str, conditions: Conditions | None = None) -> TableRows:
        config = query.tables[name]
        with reading(name):
            found = read_table(spark, name, config)
            if conditions is not None:
                found, _ = Ruled(conditions).admitted(found)
            found = replace(found, rows=found.current, fold=None)
            if looked_at:
                require_fit(name, found.rows, found, [use for use in query.root.uses if use.table == name])
        return found

    return table
