"""Nobody asks which kind an operator, a twin, a source or a sink is of: each answers for itself."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from architecture.modules import MODULES, SOURCE, holds_for_each, imported, imports, name_of, named, parsed
from streamproof.config.sinks import SINKS
from streamproof.config.sources import SOURCES
from streamproof.core.opened import Opened
from streamproof.stream import emissions

OF_EVERY_OPERATOR = {"streamproof.stream.operators.operator", "streamproof.stream.operators.Operator"}
"""What others may know of operators: what each of them answers."""
NAMES_KINDS = ("stream/stream.py", "stream/leaving.py", "stream/windowed.py", "stream/node.py")
"""The public methods, each of which makes a node of its kind; and the leaves."""


@holds_for_each(MODULES)
def test_nobody_asks_which_kind_of_operator_a_node_has(path):
    place = name_of(path)
    if place.startswith("stream/operators/") or place in NAMES_KINDS:
        return
    kinds = {name for name in imported(path) if name.startswith("streamproof.stream.operators")}

    assert not {name for name in kinds if not any(name == known or name.startswith(f"{known}.") for known in OF_EVERY_OPERATOR)}


ANSWERS_FOR_SOURCES = ("config/", "connectors/", "prove/sources/")
"""Where each kind of source has its own room. In `prove/sources/` it says how a proof writes its events."""


def _of_one_kind_of_source(path: Path) -> set[str]:
    """The names by which a module knows one kind of source. Those that are there for their types alone ask nothing."""
    kinds = {table.__name__ for table in SOURCES.values()}
    return {
        name
        for name, _ in imports(path)
        if name.rpartition(".")[2] in kinds
        or re.match(r"streamproof\.connectors\.(?:files|kafka|rate)\.(?:source|reading|lag)\b", name)
    }


@holds_for_each(MODULES)
def test_nobody_asks_which_kind_a_source_is_of(path):
    if not name_of(path).startswith(ANSWERS_FOR_SOURCES):
        assert not _of_one_kind_of_source(path)


ANSWERS_FOR_SINKS = ("config/", "connectors/", "prove/services/")
"""Where each kind of sink and service has its own module; in `prove/services/` it says what a proof asks of it."""


def _of_one_kind_of_sink(path: Path) -> set[str]:
    """The names by which a module knows one kind of sink, or asks whether one is of a service."""
    kinds = {table.__name__ for table in SINKS.values()}
    return {name for name, _ in imports(path) if name.rpartition(".")[2] in kinds} | {
        name for name in _asked_for(parsed(path)) if name in {*kinds, "ServiceSink"}
    }


def _asked_for(tree: ast.Module) -> Iterator[str]:
    """The classes that `isinstance` is asked for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            yield from (one.id for argument in node.args[1:] for one in ast.walk(argument) if isinstance(one, ast.Name))


@holds_for_each(MODULES)
def test_nobody_asks_which_kind_a_sink_is_of(path):
    if not name_of(path).startswith(ANSWERS_FOR_SINKS):
        assert not _of_one_kind_of_sink(path)


KNOW_SYSTEMS = ("config/", "connectors/", "lab/", "prove/services/", "prove/sources/", "prove/faults/", "prove/subjects/pyspark/")
"""Where a system has a module, and where a job of somebody else's is read, which names Spark's formats."""


@holds_for_each(MODULES)
def test_nobody_decides_by_the_name_of_a_connector(path):
    if not name_of(path).startswith(KNOW_SYSTEMS):
        assert not set(_decided_by(parsed(path))) & {*SINKS, *SOURCES}


KNOW_EMISSIONS = ("stream/", "prove/oracle/", "checkpoint/state.py")
"""Where emissions and operators are; and the readers of state, which say what each of Spark's operators holds."""
WORDS = {kind.name for kind in vars(emissions).values() if isinstance(kind, type) and hasattr(kind, "name")} | {
    *map(str, Opened)
} - {"key"}
"""What emissions are called, and what is open in a state; "key" is the word for much else."""


@holds_for_each(MODULES)
def test_nobody_decides_by_an_emission_or_by_what_is_open(path):
    place = name_of(path)
    if place.startswith(KNOW_EMISSIONS):
        return

    assert not set(_decided_by(parsed(path))) & WORDS
    assert not {name for name in imported(path) if re.match(r"streamproof\.stream\.emissions\.[A-Z](?!mission$)[a-z]", name)}


TAKE_OUT_COPIES = ("core/sides.py", "stream/", "runtime/rows/doors.py", "replay/bounded/doors.py")
"""Who takes the copies out, and the operator and the property of a stream that do so."""


@holds_for_each(MODULES)
def test_nobody_asks_whether_a_side_output_is_that_of_copies(path):
    if not name_of(path).startswith(TAKE_OUT_COPIES):
        assert "streamproof.core.sides.DUPLICATE" not in imported(path)


def test_who_asks_for_the_kind_of_a_sink_is_found(tmp_path):
    asking = tmp_path / "asking.py"
    asking.write_text("from streamproof.config import PostgresSink\n")

    assert _of_one_kind_of_sink(asking) == {"streamproof.config.PostgresSink"}

    asking = tmp_path / "asking_for_others.py"
    asking.write_text("def asks(sink):\n    return isinstance(sink, (int, ServiceSink)) or isinstance(sink, FilesSink)\n")

    assert _of_one_kind_of_sink(asking) == {"ServiceSink", "FilesSink"}


def test_who_decides_by_a_word_is_found():
    assert {"corrections", "early", "final", "window"} <= WORDS
    forms = (
        'made.get("emission") == "final"',
        '{"window": 1, "key": 2}[opened]',
        '{"final": 1}.get(opened)',
        'f(opened) in ("final",)',
    )

    assert [sorted(WORDS & set(_decided_by(ast.parse(text)))) for text in forms] == [["final"], ["window"], ["final"], ["final"]]


def test_who_asks_for_the_kind_of_a_source_is_found(tmp_path):
    for number, line in enumerate(
        (
            "from streamproof.config import KafkaSource",
            "from streamproof.config.sources import FilesSource",
            "from streamproof.connectors.kafka import reading",
            "from streamproof.connectors.files.source import FolderSource",
        )
    ):
        asking = tmp_path / f"asking_{number}.py"
        asking.write_text(f"def asks():\n    {line}\n")

        assert _of_one_kind_of_source(asking)


OF_EVERY_TWIN = {f"streamproof.prove.oracle.operators.{name}" for name in ("twin", "leaf", "method_of", "twin_of")}
"""What others may know of twins: what each of them answers, how a call becomes one, and the word for that call, which people read."""
METHODS = {
    node.name
    for module in ("stream", "windowed")
    for kind in parsed(SOURCE / "stream" / f"{module}.py").body
    if isinstance(kind, ast.ClassDef) and kind.name in ("Stream", "WindowedStream")
    for node in kind.body
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not node.decorator_list
}
KNOW_CALLS = ("streamproof.stream", "streamproof.prove.oracle", "streamproof.prove.subjects.job")
"""Who names something of these can have a call, a node or a twin in hand; elsewhere such a word has another meaning."""


@holds_for_each(MODULES)
def test_nobody_asks_which_kind_of_operator_a_twin_is_of(path):
    if name_of(path).startswith("prove/oracle/operators/"):
        return
    kinds = {name for name in named(path) if name.startswith("streamproof.prove.oracle.operators.")}

    assert not {name for name in kinds if not any(name == known or name.startswith(f"{known}.") for known in OF_EVERY_TWIN)}


@holds_for_each(MODULES)
def test_nobody_decides_by_the_name_of_a_method_of_the_stream(path):
    place = name_of(path)
    if place.startswith(("stream/operators/", "prove/oracle/operators/")) or place in NAMES_KINDS:
        return
    if not any(name.startswith(KNOW_CALLS) for name in named(path)):
        return

    assert not set(_compared(parsed(path))) & METHODS


def test_a_comparison_with_a_name_is_seen_in_every_form():
    forms = (
        'call.method == "window"',
        'call.method not in ("x", "window")',
        "match call:\n    case 'window': pass",
        'named["window"]',
    )

    assert [sorted({"window"} & set(_compared(ast.parse(text)))) for text in forms] == [["window"], ["window"], ["window"], []]
    assert {"window", "deduplicate", "union", "require", "aggregate"} <= METHODS


def _compared(tree: ast.Module) -> Iterator[str]:
    """The texts that something is compared with, or matched against."""
    for node in ast.walk(tree):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        sides += [node.value] if isinstance(node, ast.MatchValue) else []
        for side in sides:
            yield from (one.value for one in ast.walk(side) if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _decided_by(tree: ast.Module) -> Iterator[str]:
    """The same, and the keys of a table that something is looked up in at once."""
    yield from _compared(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.value, ast.Dict):
            yield from (key.value for key in node.value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
