"""The shape of the code, read from its text: who may import whom, what is banned where, how long a module may be."""

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from architecture.modules import MODULES, SOURCE, holds_for_each, imported, imports, module_of, name_of, named, package_of, parsed

LONGEST = 400
# Lowest first; a package may import those of lower rows and of its own row.
LAYERS = (
    ("errors",),
    ("core",),
    ("_jvm",),
    ("config",),
    ("checkpoint",),
    ("savepoints",),
    ("stream", "connectors"),
    ("runtime",),
    ("replay", "observe", "doctor"),
    ("lab", "prove"),
    ("report",),
    ("followed",),
    ("proof", "progress", "proved_once", "operator_test", "inspection", "shrunk", "whereabouts", "proof_page"),
    ("cli", "__main__"),
)
RANK = {package: rank for rank, row in enumerate(LAYERS) for package in row}
PRODUCTION = ("stream", "connectors", "runtime", "checkpoint", "savepoints", "observe")
WITHOUT_SPARK = ("core", "report", "prove/oracle", "config", "cli")
DICE = ("random", "uuid", "secrets")
CLOCKS = re.compile(
    r"(?:^|\.)(?:time\.(?:time|time_ns|monotonic|monotonic_ns|perf_counter)|datetime\.(?:now|utcnow|today)|date\.today)$"
)


def own_packages(path: Path) -> set[tuple[str, int]]:
    return {
        (parts[1], line)
        for name, line in imports(path)
        if (parts := name.split("."))[0] == "streamproof" and len(parts) > 1 and parts[1] in RANK
    }


def test_there_is_something_to_look_at():
    assert len(MODULES) > 30
    assert {package_of(path) for path in MODULES} - {"__init__"} <= set(RANK), "a package that no rule knows"


@holds_for_each([path for path in MODULES if package_of(path) != "__init__"])
def test_imports_run_downward(path):
    mine = package_of(path)
    upward = [f"line {line}: {mine} imports {other}" for other, line in sorted(own_packages(path)) if RANK[other] > RANK[mine]]

    assert not upward


@pytest.mark.parametrize("package", sorted({package_of(path) for path in MODULES} - {"__init__"}))
def test_no_modules_import_each_other_in_a_circle_not_even_for_their_types(package):
    modules = {module_of(path): path for path in MODULES if package_of(path) == package}
    graph = {
        name: {found for one in imported(path) for found in (one, one.rpartition(".")[0]) if found in modules and found != name}
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
                parts[2] for name in named(path) if (parts := name.split("."))[:2] == ["streamproof", package] and len(parts) > 2
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
        for name in named(path)
        if name.startswith(kinds)
    ]


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


@holds_for_each([path for path in MODULES if package_of(path) != "core"])
def test_time_randomness_and_ids_come_from_core(path):
    tree = parsed(path)
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


@holds_for_each(MODULES)
def test_a_module_is_one_concept(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST
    assert path.stem not in ("utils", "util", "helpers", "helper", "common", "misc")


@holds_for_each(MODULES)
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(parsed(path))


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
        *(f"streamproof.{room}" for room in ("_jvm", "connectors", "runtime", "prove", "lab") if "nowhere" not in code),
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
