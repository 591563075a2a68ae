"""Starting one query of a job."""

from typing import TYPE_CHECKING

from streamproof._jvm import Storage
from streamproof.errors import StreamproofError
from streamproof.runtime.recovery import formats
from streamproof.runtime.start.launch import launch
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.plan import plan
from streamproof.runtime.start.recover import recover
from streamproof.runtime.start.validate import validate
from streamproof.runtime.watching.events import QueryStarting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.runtime.binding.bound import BoundJob
    from streamproof.runtime.query import RunningQuery


def start_query(bound: "BoundJob", query: str, spark: "SparkSession", start: Start) -> "RunningQuery":
    """Starts the query of one main output on a session of its own.

    Raises
    ------
    StreamproofError
        If a setting of the process takes a guarantee away, the plan cannot be built, the output belongs to another incarnation, or the
        checkpoint is not whole, or of a format that is not known.
    """
    start.emitter.emit(QueryStarting(query))
    formats.require_known(bound, spark, Storage(spark))
    valid = validate(bound.query(query), spark, start)
    try:
        recovered = recover(valid)
        return launch(valid, recovered, plan(valid))
    except StreamproofError as problem:
        valid.advise(problem)
        raise
