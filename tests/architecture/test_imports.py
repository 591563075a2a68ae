"""The shape of the code, read from its text: who may import whom, what is banned where, how long a module may be."""

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamproof.config.sources import SOURCES

SOURCE = Path(__file__).parents[2] / "src" / "streamproof"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if "templates" not in path.relative_to(SOURCE).parts)
LONGEST = 400
# Lowest first; a package may import those of lower rows and of its own row.
LAYERS = (
    ("errors",),
    ("core",),
    ("_jvm",),
    ("config",),
    ("checkpoint",),
    ("stream", "connectors"),
    ("runtime",),
    ("savepoints",),
    ("replay", "observe", "doctor"),
    ("lab", "prove"),
    ("report",),
    ("proof", "progress", "proved_once"),
    ("cli", "__main__"),
)
RANK = {package: rank for rank, row in enumerate(LAYERS) for package in row}
PRODUCTION = ("stream", "connectors", "runtime", "checkpoint", "savepoints", "observe")
WITHOUT_SPARK = ("core", "report", "prove/oracle", "config", "cli")
DICE = ("random", "uuid", "secrets")
CLOCKS = re.compile(
    r"(?:^|\.)(?:time\.(?:time|time_ns|monotonic|monotonic_ns|perf_counter)|datetime\.(?:now|utcnow|today)|date\.today)$"
)


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every imported module with its line, wherever in the file, those for type checking left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    only_typing = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in only_typing:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def own_packages(path: Path) -> set[tuple[str, int]]:
    return {
        (parts[1], line)
        for name, line in imports(path)
        if (parts := name.split("."))[0] == "streamproof" and len(parts) > 1 and parts[1] in RANK
    }


def test_there_is_something_to_look_at():
    assert len(MODULES) > 30
    assert {package_of(path) for path in MODULES} - {"__init__"} <= set(RANK), "a package that no rule knows"


@pytest.mark.parametrize("path", [path for path in MODULES if package_of(path) != "__init__"], ids=name_of)
def test_imports_run_downward(path):
    mine = package_of(path)
    upward = [f"line {line}: {mine} imports {other}" for other, line in sorted(own_packages(path)) if RANK[other] > RANK[mine]]

    assert not upward


def module_of(path: Path) -> str:
    return ".".join(("streamproof", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


@pytest.mark.parametrize("package", sorted({package_of(path) for path in MODULES} - {"__init__"}))
def test_no_modules_import_each_other_in_a_circle_not_even_for_their_types(package):
    modules = {module_of(path): path for path in MODULES if package_of(path) == package}
    graph = {
        name: {
            found
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            for imported in _imported(node)
            for found in (imported, imported.rpartition(".")[0])
            if found in modules and found != name
        }
        for name, path in modules.items()
    }

    graphlib.TopologicalSorter(graph).prepare()  # CycleError names the circle


@pytest.mark.parametrize("package", ["runtime", "prove"])
def test_the_rooms_of_a_package_do_not_import_each_other_in_a_circle(package):
    """Imports of all kinds count: local ones, those for types, and modules that are imported by their name as a text.

    What lies beside the rooms takes part, each module for itself.
    """
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        own, *inside = path.relative_to(SOURCE).with_suffix("").parts
        if own == package and inside != ["__init__"]:
            imported = {
                parts[2]
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                for name in (*_imported(node), *_named(node))
                if (parts := name.split("."))[:2] == ["streamproof", package] and len(parts) > 2
            }
            graph.setdefault(inside[0], set()).update(imported - {inside[0]})

    assert len(graph) > 5
    graphlib.TopologicalSorter(graph).prepare()  # CycleError names the circle


def test_what_runs_a_proof_knows_no_kind_of_subject():
    kinds = ("streamproof.prove.subjects.job", "streamproof.prove.subjects.pyspark")

    assert not [
        f"{name_of(path)} imports {name}"
        for path in MODULES
        if package_of(path) == "prove" and not name_of(path).startswith("prove/subjects/")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (*_imported(node), *_named(node))
        if name.startswith(kinds)
    ]


def _named(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"streamproof(\.\w+)+", node.value):
        return [node.value]
    return []


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


OF_EVERY_OPERATOR = {"streamproof.stream.operators.operator", "streamproof.stream.operators.Operator"}
"""What others may know of operators: what each of them answers."""
NAMES_KINDS = ("stream/stream.py", "stream/node.py")
"""The public methods, each of which makes a node of its kind; and the leaves."""


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nobody_asks_which_kind_of_operator_a_node_has(path):
    place = path.relative_to(SOURCE).as_posix()
    if place.startswith("stream/operators/") or place in NAMES_KINDS:
        return
    named = {name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for name in _imported(node)}
    kinds = {name for name in named if name.startswith("streamproof.stream.operators")}

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
    for kind in ast.parse((SOURCE / "stream" / "stream.py").read_text(encoding="utf-8")).body
    if isinstance(kind, ast.ClassDef) and kind.name in ("Stream", "WindowedStream")
    for node in kind.body
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not node.decorator_list
}
MEAN_SOMETHING_ELSE = {
    "report/svg.py": "an attribute of SVG",
    "checkpoint/state.py": "what a state holds",
    "runtime/summary.py": "what is open at the end of a run",
    "connectors/kafka/lag.py": "from where a topic is read",
    "report/store.py": "the newest report",
}
"""Modules in which a word is compared that is the name of a method too."""


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nobody_asks_which_kind_of_operator_a_twin_is_of(path):
    if name_of(path).startswith("prove/oracle/operators/"):
        return
    named = {name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for name in (*_imported(node), *_named(node))}
    kinds = {name for name in named if name.startswith("streamproof.prove.oracle.operators.")}

    assert not {name for name in kinds if not any(name == known or name.startswith(f"{known}.") for known in OF_EVERY_TWIN)}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nobody_decides_by_the_name_of_a_method_of_the_stream(path):
    place = name_of(path)
    if place.startswith(("stream/operators/", "prove/oracle/operators/")) or place in (*NAMES_KINDS, *MEAN_SOMETHING_ELSE):
        return

    assert not set(_compared(path.read_text(encoding="utf-8"))) & METHODS


def test_a_comparison_with_a_name_is_seen_in_every_form():
    forms = (
        'call.method == "window"',
        'call.method not in ("x", "window")',
        "match call:\n    case 'window': pass",
        'named["window"]',
    )

    assert [sorted({"window"} & set(_compared(text))) for text in forms] == [["window"], ["window"], ["window"], []]
    assert {"window", "deduplicate", "union", "require", "aggregate"} <= METHODS


def _compared(text: str) -> Iterator[str]:
    """The texts that something is compared with, or matched against."""
    for node in ast.walk(ast.parse(text)):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        sides += [node.value] if isinstance(node, ast.MatchValue) else []
        for side in sides:
            yield from (one.value for one in ast.walk(side) if isinstance(one, ast.Constant) and isinstance(one.value, str))


def test_the_screen_of_a_run_knows_its_events_and_its_result_and_nothing_else_of_the_runtime():
    text = (SOURCE / "cli" / "run_screen.py").read_text(encoding="utf-8")

    assert set(re.findall(r"streamproof\.runtime\.?(\S*(?: import (?:events|result))?)", text)) == {
        "watching import events",
        "watching.events",
        "watching.result",
    }


def test_report_never_imports_the_proof():
    assert not [
        name_of(path)
        for path in MODULES
        if package_of(path) == "report"
        for other, _ in own_packages(path)
        if other in ("prove", "lab")
    ]


@pytest.mark.parametrize("package", PRODUCTION)
def test_what_is_shipped_to_production_never_imports_prove_or_lab(package):
    assert not [
        name_of(path)
        for path in MODULES
        if package_of(path) == package
        for other, _ in own_packages(path)
        if other in ("prove", "lab", "report", "cli")
    ]


@pytest.mark.parametrize("package", WITHOUT_SPARK)
def test_these_never_import_pyspark(package):
    assert not [
        f"{name_of(path)} line {line}"
        for path in MODULES
        if name_of(path).startswith(f"{package}/")
        for name, line in imports(path)
        if name.split(".")[0] in ("pyspark", "py4j")
    ]


def test_core_is_standard_library_only():
    allowed = {*sys.stdlib_module_names, "streamproof"}

    assert not [
        name for path in MODULES if package_of(path) == "core" for name, _ in imports(path) if name.split(".")[0] not in allowed
    ]


def test_only_the_bridge_and_the_gateway_of_a_proofs_children_touch_py4j():
    touching = {name_of(path) for path in MODULES for name, _ in imports(path) if name.split(".")[0] == "py4j"}

    assert {name for name in touching if not name.startswith("_jvm/")} <= {"prove/process/gateway.py"}


@pytest.mark.parametrize("path", [path for path in MODULES if package_of(path) != "core"], ids=name_of)
def test_time_randomness_and_ids_come_from_core(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    banned = [f"line {line}: {name}" for name, line in imports(path) if name.split(".")[0] in DICE or CLOCKS.search(name)]
    banned += [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and CLOCKS.search(ast.unparse(node))
    ]

    assert not banned


def test_the_ban_on_clocks_sees_what_it_should():
    assert all(CLOCKS.search(call) for call in ("time.time", "time.monotonic", "datetime.now", "datetime.datetime.utcnow"))
    assert not any(CLOCKS.search(call) for call in ("time.sleep", "clock.now_utc", "runtime.timer", "event.time"))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_one_concept(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST
    assert path.stem not in ("utils", "util", "helpers", "helper", "common", "misc")


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "code",
    [
        "import streamproof",
        "import streamproof; streamproof.StreamproofError",
        "from streamproof.cli.main import main; assert main(['--help']) == 0",
        "from streamproof.cli.main import main; assert main(['prove', '--help']) == 0",
        "from streamproof.cli.main import main; main(['check', 'nowhere'])",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    heavy = (
        "pyspark",
        "py4j",
        "pandas",
        "pyarrow",
        "numpy",
        "altair",
        *(("pydantic", "rich", "typer") if "main" not in code else ()),
    )
    program = f"import sys\n{code}\nsys.exit(' '.join(name for name in {heavy} if name in sys.modules) or 0)"

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(SOURCE.parent), "PATH": ""},
    )

    assert done.returncode == 0, done.stderr
