"""A stand-in for Spark that starts nothing: PySpark's functions make columns on it, and each column knows which names it mentions.

PySpark builds a column by calling the JVM. Here every call is answered by an object that takes any call itself. So `F.sum("notional")` runs
PySpark's own code, with its own checks of arguments, and what comes out mentions "notional".
"""

from collections.abc import Iterable
from typing import Any

_NAMING = ("col", "column")


class NeedsSpark(Exception):
    """The code asks for a session that runs."""


class Recorded:
    """What stands for an object of the JVM: any attribute, any call; `names` are the columns that it mentions."""

    def __init__(self, names: Iterable[str] = (), called: str = "") -> None:
        self._names, self._called = frozenset(names), called

    def __getattr__(self, name: str) -> "Recorded":
        if name.startswith("__"):
            raise AttributeError(name)
        return Recorded(self._names, name)

    def __call__(self, *arguments: Any) -> "Recorded":
        if self._called in _NAMING and len(arguments) == 1 and isinstance(arguments[0], str):
            return Recorded({arguments[0]})
        return Recorded(self._names.union(*map(_mentioned, arguments)))


class _Context:
    """The SparkContext that there is none of."""

    def __init__(self) -> None:
        self._jvm = Recorded()
        self.environment: dict[str, str] = {}
        self._conf: dict[str, str] = {}
        self._python_includes: list[str] = []

    def _parse_ddl(self, _: str) -> Any:
        """The type of a function of the user's, which is not called here."""
        from pyspark.sql.types import StringType

        return StringType()

    def __getattr__(self, name: str) -> Any:
        raise NeedsSpark(f"SparkContext.{name}")


def names_in(column: Any) -> frozenset[str]:
    """The columns that a PySpark Column mentions by name; those within a SQL text are not known."""
    return _mentioned(getattr(column, "_jc", None))


def install() -> None:
    """Lets PySpark in this process make columns without Spark, and refuses it everything that would start or ask a session."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    def refuse(*_: Any, **__: Any) -> Any:
        raise NeedsSpark("a SparkSession")

    for name in ("_ensure_initialized", "getOrCreate"):
        setattr(SparkContext, name, refuse)
    for name in ("getActiveSession", "active", "_getActiveSessionOrCreate"):
        setattr(SparkSession, name, refuse)
    SparkSession.Builder.getOrCreate = refuse  # type: ignore[method-assign]
    SparkContext._active_spark_context = _Context()  # type: ignore[assignment]
    _without_call_sites()


def _without_call_sites() -> None:
    """PySpark asks the session whether it is to note where each column was made."""
    import pyspark.errors.utils

    pyspark.errors.utils._enable_debugging_cache = False  # type: ignore[assignment]


def _mentioned(value: Any) -> frozenset[str]:
    if isinstance(value, Recorded):
        return value._names
    if isinstance(value, list | tuple | set):
        return frozenset().union(*map(_mentioned, value))
    return frozenset()
