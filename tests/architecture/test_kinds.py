"""Nobody asks which kind an operator, a twin, a source or a sink is of: each answers for itself."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from architecture.modules import MODULES, SOURCE, imported, imports, name_of, named, parsed
from streamproof.config.sinks import SINKS, ServiceSink
from streamproof.config.sources import SOURCES

OF_EVERY_OPERATOR = {"streamproof.stream.operators.operator", "streamproof.stream.operators.Operator"}
"""What others may know of operators: what each of them answers."""
NAMES_KINDS = ("stream/stream.py", "stream/windowed.py", "stream/node.py")
"""The public methods, each of which makes a node of its kind; and the leaves."""


@pytest.mark.parametrize("path", MODULES, ids=name_of)
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


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nobody_asks_which_kind_a_source_is_of(path):
    if not name_of(path).startswith(ANSWERS_FOR_SOURCES):
        assert not _of_one_kind_of_source(path)


ANSWERS_FOR_SERVICES = ("config/", "connectors/", "prove/services/")
"""Where each kind of sink and service has its own module; in `prove/services/` it says what a proof asks of it."""


def _of_one_kind_of_sink(path: Path) -> set[str]:
    """The names by which a module knows one kind of sink of a service; folders, and what all services have, are none."""
    kinds = {table.__name__ for table in SINKS.values() if issubclass(table, ServiceSink)}
    return {name for name, _ in imports(path) if name.rpartition(".")[2] in kinds}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nobody_asks_which_kind_a_sink_is_of(path):
    if not name_of(path).startswith(ANSWERS_FOR_SERVICES):
        assert not _of_one_kind_of_sink(path)


def test_who_asks_for_the_kind_of_a_sink_is_found(tmp_path):
    asking = tmp_path / "asking.py"
    asking.write_text("from streamproof.config import PostgresSink\n")

    assert _of_one_kind_of_sink(asking) == {"streamproof.config.PostgresSink"}


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


OF_EVERY_TWIN = {f"streamproof.prove.oracle.operators.{name}" for name in ("twin", "leaf", "twin_of")}
"""What others may know of twins: what each of them answers, and how a call becomes one."""
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


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nobody_asks_which_kind_of_operator_a_twin_is_of(path):
    if name_of(path).startswith("prove/oracle/operators/"):
        return
    kinds = {name for name in named(path) if name.startswith("streamproof.prove.oracle.operators.")}

    assert not {name for name in kinds if not any(name == known or name.startswith(f"{known}.") for known in OF_EVERY_TWIN)}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
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
