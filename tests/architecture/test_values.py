"""What belongs together is a value: no class takes, and no function is called with, a dozen things side by side."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from architecture.modules import MODULES, holds_for_each, name_of

MOST_FIELDS = 12
"""Of a class, what it is made of: the fields or the parameters that whoever makes one gives."""
MOST_ATTRIBUTES = 20
MOST_PARAMETERS = 8
FLAT = {
    "report/shape.py:Report": "report.json, as programs read it",
    "report/shape.py:ScenarioEntry": "a scenario in report.json",
    "core/manifest.py:Manifest": "a manifest, as it lies in the checkpoint (R30)",
    "config/sources.py:KafkaSource": "[source.NAME], as the user writes it",
    "runtime/watching/events.py:BatchCommitted": "a line of `run --events`, as programs read it",
    "runtime/watching/result.py:RunResult": "what a run gives to whoever has called it: its names are those of the guide",
    "prove/subjects/pyspark/preparation.py:Wanted": "what a user says of a PySpark job: a field for each word of the command",
}
"""Classes that have more since somebody outside reads or writes them field by field."""
CALLED_BY_USERS = {
    "cli/prove.py:prove": "the options of a command",
    "cli/run.py:run": "the options of a command",
    "cli/lag.py:lag": "the options of a command",
    "cli/diff.py:diff": "the options of a command",
    "cli/inspect.py:inspect": "the options of a command",
    "cli/trace.py:trace": "the options of a command",
    "proof.py:prove": "sp.prove",
    "proof.py:plan": "sp.prove, as far as it is about the plan",
    "runtime/run.py:run_job": "sp.run",
    "runtime/target.py:run": "sp.run, by the target",
}
"""Functions that have more since people call them, with names."""


def _is_given(field: ast.AnnAssign) -> bool:
    """Whether whoever makes an object gives this field: it is no constant of the class, and not the object's own business."""
    kept = isinstance(field.value, ast.Call) and any(
        keyword.arg == "init" and isinstance(keyword.value, ast.Constant) and not keyword.value.value
        for keyword in field.value.keywords
    )
    private = isinstance(field.target, ast.Name) and field.target.id.startswith("_")
    return not kept and not private and "ClassVar" not in ast.unparse(field.annotation)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return given[1:] if given[:1] in (["self"], ["cls"]) else given


def fields(found: ast.ClassDef) -> int:
    """How many things an object is made of."""
    annotated = [inner for inner in found.body if isinstance(inner, ast.AnnAssign) and _is_given(inner)]
    made = [inner for inner in found.body if isinstance(inner, ast.FunctionDef) and inner.name == "__init__"]
    return max(len(annotated), *(len(_parameters(one)) for one in made), 0)


def attributes(found: ast.ClassDef) -> int:
    """How many things an object has, those that its methods give it included."""
    names = {inner.target.id for inner in found.body if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name)}
    names |= {
        inner.attr
        for inner in ast.walk(found)
        if isinstance(inner, ast.Attribute)
        and isinstance(inner.ctx, ast.Store)
        and isinstance(inner.value, ast.Name)
        and inner.value.id == "self"
    }
    return len(names)


def too_wide(path: Path, code: str | None = None) -> Iterator[str]:
    """The classes and functions of a module that are over a limit, by name."""
    for node in ast.walk(ast.parse(code if code is not None else path.read_text(encoding="utf-8"))):
        name = f"{name_of(path)}:{getattr(node, 'name', '')}"
        if (isinstance(node, ast.ClassDef) and (fields(node) > MOST_FIELDS or attributes(node) > MOST_ATTRIBUTES)) or (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name != "__init__"
            and len(_parameters(node)) > MOST_PARAMETERS
        ):
            yield name


@holds_for_each(MODULES)
def test_what_belongs_together_is_a_value(path: Path) -> None:
    found = [name for name in too_wide(path) if name not in FLAT and name not in CALLED_BY_USERS]

    assert not found, "make values of the parts that belong together, with the names that the field has for them"


def test_no_exception_stays_when_its_reason_is_gone() -> None:
    found = {name for path in MODULES for name in too_wide(path)}

    assert FLAT.keys() | CALLED_BY_USERS.keys() == found


@pytest.mark.parametrize(
    "code",
    [
        "class Wide:\n" + "".join(f"    f{number}: int\n" for number in range(MOST_FIELDS + 1)),
        f"class Wide:\n    def __init__(self, {', '.join(f'p{number}' for number in range(MOST_FIELDS + 1))}): ...",
        "class Wide:\n    def __init__(self):\n"
        + "".join(f"        self.a{number} = 0\n" for number in range(MOST_ATTRIBUTES + 1)),
        f"def wide({', '.join(f'p{number}' for number in range(MOST_PARAMETERS))}, *, last): ...",
        f"class Fit:\n    def wide(self, {', '.join(f'p{number}' for number in range(MOST_PARAMETERS + 1))}): ...",
    ],
)
def test_the_limit_sees_what_it_should(code: str) -> None:
    assert list(too_wide(MODULES[0], code))


def test_what_an_object_keeps_for_itself_is_not_given_to_it() -> None:
    own = "".join(f"    _k{number}: int = 0\n    n{number}: int = field(init=False)\n" for number in range(4))
    given = "".join(f"    f{number}: int\n" for number in range(MOST_FIELDS))

    assert not list(too_wide(MODULES[0], f"class Fit:\n    c: ClassVar[int] = 0\n{given}{own[: own.index('_k3') - 4]}"))
