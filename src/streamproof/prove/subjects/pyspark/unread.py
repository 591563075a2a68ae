"""Outputs that nobody has looked at: what a function of the job writes where no proof looks, or a place that never got a row.

Without one output that was read back a proof says nothing (R29). What is missing, and how it is given, stands in the report: the command
with what has to be added, and a sketch of the function that reads the output back.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from streamproof.prove.subjects.pyspark.reading import Left
from streamproof.prove.subjects.pyspark.told import FOLDER, Query, Told

NOT_READ, WITHOUT_ROW = "output-not-read", "output-without-row"
_PLACE = re.compile(
    r"(?<![a-z])(?:path|file|folder|dir|directory|database|db|table|place|target|out|output|sink|dsn|url)s?(?![a-z])", re.IGNORECASE
)
_READ_BY = {
    "to_csv": ("import pandas as pd", "return pd.read_csv({place}).to_dict('records')"),
    "to_json": ("import pandas as pd", "return pd.read_json({place}, lines=True).to_dict('records')"),
    "to_parquet": ("import pandas as pd", "return pd.read_parquet({place}).to_dict('records')"),
    "sqlite3": ("import sqlite3", "return list(sqlite3.connect({place}).execute('SELECT * FROM ...'))"),
}
"""By a word in the job's text, the lines of a function that reads what the word writes."""
_LINES = ("", "return [...]  # the rows at {place}: dicts or tuples")


def unread(queries: Sequence[Query], readers: Sequence[str]) -> tuple[Query, ...]:
    """The queries whose own function writes where no proof looks.

    A function is looked at where it writes by a bound writer, or where a reader (`--read`) has the name of its query. Readers of other names
    are taken for those that are left, if there are as many as queries.
    """
    left = [query for query in queries if query.rows == "function" and not query.wrote and query.name not in readers]
    others = [name for name in readers if name not in {query.name for query in queries}]
    return () if left and len(others) >= len(left) else tuple(left)


def why_unread(query: Query) -> str:
    """Why the rows of such a query are not known, as a sentence."""
    return f"The output {query.name} was not read back: {query.was} writes it where no proof looks (--read {query.name}=MODULE:FUNCTION)."


def not_looked_at(told: Told, left: Left | None, readers: Sequence[str], queries: Sequence[Query]) -> Iterator[dict[str, Any]]:
    """What keeps a proof from saying something, for the report: outputs that were not read back, and outputs without a row."""
    for query in unread(queries, readers):
        yield _remedy(told, query)
    there = {output.name: output.count for output in left.outputs} if left else {}
    for query in queries if left else ():
        there.update({place: 0 for place in query.wrote if place and not _known(place, there)})
    filled = {_pattern(name) for name, rows in there.items() if rows}
    for name in there:
        if _pattern(name) not in filled:
            says = f"The output {name} has no row. Take a sample that gives some: more records, or a longer span of time."
            yield {"code": WITHOUT_ROW, "name": name, "says": says}


def _pattern(name: str) -> str:
    """The name without its numbers: a folder for each batch, of which one has no row, is one output."""
    return re.sub(r"\d+", "#", name)


def _known(place: str, there: dict[str, int]) -> bool:
    return any(name == place or name.startswith(f"{place}/") for name in there)


def _remedy(told: Told, query: Query) -> dict[str, Any]:
    text = _text(Path(told.file))
    place = _place(told, query, text)
    module = Path(told.file).stem if told.function else "readback"  # a script would run if it were imported once more
    function = "read_" + re.sub(r"\W", "_", query.name)
    read = f"--read {query.name}={module}:{function}"
    return {
        "code": NOT_READ,
        "name": query.name,
        "says": f"{query.was} writes {query.name} where no proof looks, so its rows were not compared. {place.says} {read}",
        "add": f"{place.option} {read}".strip(),
        "sketch": [f"# in {module}.py, beside the job", f"def {function}({place.argument}):", *_sketch(text, place)],
    }


@dataclass(frozen=True)
class _Place:
    """How the job is told where it writes.

    Parameters
    ----------
    argument
        What the reading function takes; nothing where it looks into the environment.
    expression
        The place, in the reading function.
    option
        What has to be added to the command so that the job writes below a folder of the scenario's own; empty where nothing can be.
    says
        What the user does first, as the beginning of a sentence that ends with `--read ...`.
    """

    argument: str
    expression: str
    option: str = ""
    says: str = "Say how they are read back:"


def _place(told: Told, query: Query, text: str) -> _Place:
    """By what is given with {folder} already, by a parameter of the job, by the environment; else the job must be given a parameter first."""
    for name, value in told.arguments.items():
        if FOLDER in value:
            return _Place(name, name)
    for name, value in told.environment.items():
        if FOLDER in value:
            return _Place("", f"os.environ[{name!r}]")
    if told.keeps_elsewhere:
        return _Place("folder", f"f'{{folder}}/{query.name}'")
    own = "Let the job write to a folder of each scenario's own, and say how they are read back:"
    for name, default in _parameters(text, told.function):
        if _PLACE.search(name.replace("_", " ")) and name not in (*told.tables, *(one.name for one in told.inputs)):
            suffix = PurePosixPath(default).suffix
            return _Place(name, name, f"--set '{name}={FOLDER}/{query.name}{suffix}'", own)
    for name in re.findall(r"""(?:environ(?:\.get)?[\[(]|getenv\()\s*['"](\w+)['"]""", text):
        if _PLACE.search(name.replace("_", " ")):
            return _Place("", f"os.environ[{name!r}]", f"--env '{name}={FOLDER}/{query.name}'", own)
    fixed = "Make the place a parameter of the job first, here called place, and say how they are read back:"
    if told.function:
        return _Place("place", "place", f"--set 'place={FOLDER}/{query.name}'", fixed)
    fixed = "Let the script take the place from its command line first, and say how they are read back:"
    return _Place("folder", f"f'{{folder}}/{query.name}'", f"--argument '{FOLDER}/{query.name}'", fixed)


def _parameters(text: str, function: str) -> Iterator[tuple[str, str]]:
    """The parameters of the job's function with their default, where that is a text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            every = [*node.args.posonlyargs, *node.args.args]
            defaults = [None] * (len(every) - len(node.args.defaults)) + list(node.args.defaults)
            both = [*zip(every, defaults, strict=True), *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
            for parameter, default in both:
                value = default.value if isinstance(default, ast.Constant) else ""
                yield parameter.arg, value if isinstance(value, str) else ""


def _sketch(text: str, place: _Place) -> list[str]:
    imported, returned = next((lines for word, lines in _READ_BY.items() if re.search(rf"\b{word}\b", text)), _LINES)
    if "header=False" in text:
        returned = returned.replace("read_csv({place})", "read_csv({place}, header=None)")
    found = [imported, "import os" if "os.environ" in place.expression else "", returned.format(place=place.expression)]
    return [f"    {line}" for line in found if line]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
