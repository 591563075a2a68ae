"""A stand-in for Spark that starts nothing: PySpark's functions make columns on it, and each column knows which names it mentions.

PySpark builds a column by calling the JVM. Here every call is answered by an object that takes any call itself. So `F.sum("notional")` runs
PySpark's own code, with its own checks of arguments, and what comes out mentions "notional".
"""

from collections.abc import Iterable, Iterator
from typing import Any

from streamproof.runtime.checks.sql_names import Name, parts_of, read_text

_NAMING = ("col", "column")
_ALIASING = ("alias", "as", "name")


class NeedsSpark(Exception):
    """The code asks for a session that runs."""


class Recorded:
    """What stands for an object of the JVM: any attribute, any call.

    `names` are the columns that it mentions, `unread` the SQL texts in it that could not be read, and `output` is what it is called as a
    column of its own ("" where Spark makes the name).
    """

    def __init__(
        self, names: Iterable[Name] = (), called: str = "", *, unread: Iterable[str] = (), output: str = "", of: str = ""
    ) -> None:
        self._names, self._called, self._unread = frozenset(names), called, frozenset(unread)
        self._output, self._of = output, of

    def __getattr__(self, name: str) -> "Recorded":
        if name.startswith("__"):
            raise AttributeError(name)
        return Recorded(self._names, name, unread=self._unread, of=self._output)

    def __call__(self, *arguments: Any) -> "Recorded":
        if len(arguments) >= 1 and isinstance(arguments[0], str):
            if self._called in _NAMING and len(arguments) == 1:
                return _column(arguments[0])
            if self._called == "expr":
                return _expression(arguments[0])
        given = [self, *_all_recorded(arguments)]
        names, unread = (frozenset().union(*(getattr(one, part) for one in given)) for part in ("_names", "_unread"))
        output = self._of if self._called == "cast" else ""
        if self._called in _ALIASING and arguments and isinstance(arguments[0], str):
            output = arguments[0]
        return Recorded(names, unread=unread, output=output)


def _column(name: str) -> Recorded:
    parts = parts_of(name)
    if parts is None:
        return Recorded(unread=[name])
    return Recorded([parts], output=parts[-1] if parts[-1] != "*" or len(parts) == 1 else "")


def _expression(text: str) -> Recorded:
    found = read_text(text)
    if found is None:
        return Recorded(unread=[text])
    return Recorded(found.names, output="*" if found.star else found.output)


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


def read_by(column: Any) -> tuple[frozenset[Name], frozenset[str]]:
    """The columns that a PySpark Column mentions, and the SQL texts in it that could not be read."""
    found = getattr(column, "_jc", None)
    return (found._names, found._unread) if isinstance(found, Recorded) else (frozenset(), frozenset())


def output_of(column: Any) -> str:
    """What a PySpark Column is called in a select; "" where Spark makes the name."""
    found = getattr(column, "_jc", None)
    return found._output if isinstance(found, Recorded) else ""


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
    _without_calls()


def _without_call_sites() -> None:
    """PySpark asks the session whether it is to note where each column was made."""
    import pyspark.errors.utils

    pyspark.errors.utils._enable_debugging_cache = False  # type: ignore[assignment]


def _without_calls() -> None:
    """A function of the user's, called on columns, makes a column that mentions them."""
    from pyspark.sql import Column
    from pyspark.sql.udf import UserDefinedFunction

    def called(self: Any, *arguments: Any, **named: Any) -> Column:  # noqa: ARG001
        given = [_column(one) if isinstance(one, str) else getattr(one, "_jc", one) for one in (*arguments, *named.values())]
        return Column(Recorded()(*given))

    UserDefinedFunction.__call__ = called  # type: ignore[method-assign]


def _all_recorded(values: Iterable[Any]) -> Iterator[Recorded]:
    for value in values:
        if isinstance(value, Recorded):
            yield value
        elif isinstance(value, list | tuple | set):
            yield from _all_recorded(value)
