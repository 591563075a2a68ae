"""Which line of a job makes a value that no second run gives again: a clock, or dice, in the code that the proved function reaches."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamproof.prove.subjects.pyspark.reached import Reached, reached_code

CLOCKS = frozenset(
    (
        "current_timestamp",
        "now",
        "current_date",
        "curdate",
        "unix_timestamp",
        "localtimestamp",
        "utcnow",
        "today",
        "time",
        "time_ns",
        "monotonic",
        "perf_counter",
    )
)
DICE = frozenset(
    (
        "rand",
        "randn",
        "randstr",
        "uuid",
        "uuid1",
        "uuid4",
        "random",
        "randint",
        "choice",
        "shuffle",
        "monotonically_increasing_id",
        "uniform",
        "token_hex",
        "token_bytes",
        "token_urlsafe",
        "urandom",
        "uuid7",
        "getrandbits",
        "gauss",
        "sample",
        "randomSplit",
    )
)
_OF_ITS_ARGUMENT = frozenset(("unix_timestamp",))
"""Clocks only where they are called without one."""
_SQL = re.compile(
    r"\b(current_timestamp|current_date|curdate|localtimestamp|unix_timestamp|now|"
    r"randn|randstr|random|rand|uuid|shuffle|uniform|monotonically_increasing_id)\(\s*(\))?",
    re.IGNORECASE,
)
"""Those of them that Spark's SQL has; `)` where they are called without an argument."""
_SQL_WORD = re.compile(r"\b(current_timestamp|current_date|localtimestamp)\b", re.IGNORECASE)
_FAR = 1_000


@dataclass(frozen=True)
class Cause:
    """A call of a clock or of dice: its name, where it stands, and whether the columns that are asked for are made of it."""

    name: str
    file: Path
    line: int
    distance: int

    @property
    def is_clock(self) -> bool:
        return self.name in CLOCKS


def cause_of(file: Path, function: str, columns: Sequence[str]) -> Cause | None:
    """The call that the columns come of, as far as the text shows it; else the first clock, else the first dice; None without any."""
    found = [cause for reached in reached_code(file, function) for cause in _in(reached, columns)]
    return min(found, key=lambda cause: (cause.distance, not cause.is_clock), default=None)


def _in(reached: Reached, columns: Sequence[str]) -> Iterator[Cause]:
    names = [column.rpartition(".")[2] for column in columns]
    parents = {child: parent for parent in ast.walk(reached.node) for child in ast.iter_child_nodes(parent)}
    for node in ast.walk(reached.node):
        for name in _calls(node, parents):
            yield Cause(name, reached.file, getattr(node, "lineno", 0), _distance(node, parents, names))


def _calls(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[str]:
    """The clocks and dice that a node calls, in Python or in a text of SQL."""
    if isinstance(node, ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if name in CLOCKS | DICE and not (name in _OF_ITS_ARGUMENT and node.args):
            yield name
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not isinstance(parents.get(node), ast.Expr):
        for match in _SQL.finditer(node.value):
            if match[2] or match[1].lower() not in _OF_ITS_ARGUMENT:
                yield match[1].lower()
        if _SQL_WORD.search(node.value) and not _SQL.search(node.value):
            yield _SQL_WORD.findall(node.value)[0].lower()


def _distance(node: ast.AST, parents: dict[ast.AST, ast.AST], names: Sequence[str]) -> int:
    """How many steps outward a column of these names is named; far where none is within the statement."""
    if isinstance(node, ast.Constant) and any(_says(str(node.value), name) for name in names):
        return 0
    steps, at = 0, node
    while not isinstance(at, ast.stmt) and at in parents:
        at, steps = parents[at], steps + 1
        if any(_names(at, name) for name in names):
            return steps
    return _FAR


def _names(node: ast.AST, name: str) -> bool:
    """Whether the node itself says the name: `withColumn("loaded_at", ...)`, `.alias("loaded_at")`, `loaded_at=...`, `{"loaded_at": ...}`."""
    if isinstance(node, ast.keyword) and node.arg == name:
        return True
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return any(isinstance(child, ast.Constant) and child.value == name for child in ast.iter_child_nodes(node))


def _says(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
