"""What a notebook has without saying where from: an exported one names the session, and its own tools, as if they were built in."""

import builtins
from typing import TYPE_CHECKING, Any

from streamproof.errors import ScenarioError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TOOLS = ("dbutils", "display", "displayHTML", "get_ipython", "mssparkutils", "notebookutils")


def bind_notebook(spark: "SparkSession") -> None:
    """Gives the names of a notebook to whoever does not define them: `spark` and `sc`; its tools say that they are none of Spark's."""
    named: Any = builtins
    named.spark, named.sc = spark, spark.sparkContext
    for tool in _TOOLS:
        setattr(named, tool, _Tool(tool))


class _Tool:
    """A tool of a notebook: it is refused when it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise _refused(f"{self._name}()")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _refused(f"{self._name}.{name}")


def _refused(what: str) -> ScenarioError:
    return ScenarioError(
        f"The job calls {what}, which only a notebook has.",
        required="A proof runs plain PySpark; of a notebook's own names it has spark and sc.",
        remedy="Take the cell out of the exported file, or make what it gives an argument of the job: --argument, --set, --env.",
    )
