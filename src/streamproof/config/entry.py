"""The functions of a job file, read without running it: their names, parameters and outputs."""

import ast
from dataclasses import dataclass
from pathlib import Path

from streamproof.core.paths import display
from streamproof.core.sides import GIVING
from streamproof.errors import ConfigurationError


@dataclass(frozen=True)
class JobFunction:
    """A function at the top of a job file.

    Parameters
    ----------
    name, line
        Its name and the line of its `def`.
    parameters
        The names of its parameters, one for each stream.
    is_job
        Whether it carries the decorator `@sp.job`, however `streamproof` is imported.
    outputs
        The names in its `return sp.Outputs(...)`; None if they cannot be read from the text.
    main_outputs
        Those of them that are not written as a side output, such as `checked.rejected`.
    """

    name: str
    line: int
    parameters: tuple[str, ...]
    is_job: bool
    outputs: tuple[str, ...] | None
    main_outputs: tuple[str, ...]


def job_functions(path: Path) -> tuple[JobFunction, ...]:
    """The functions at the top of a Python file.

    Raises
    ------
    ConfigurationError
        If the file cannot be read or is not Python.
    """
    return tuple(_function(node) for node in _parsed(path).body if isinstance(node, ast.FunctionDef))


def is_plain_pyspark(target: str) -> bool:
    """Whether a target is a Python file in which the function that is meant is no job of ours."""
    file, _, function = target.rpartition(":") if ":" in target else (target, "", "")
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        return False
    functions = {one.name: one for one in job_functions(path)}
    if function:
        return function in functions and not functions[function].is_job
    return not any(one.is_job for one in functions.values())


def class_names(path: Path) -> tuple[str, ...]:
    """The classes at the top of a Python file; raises as `job_functions` does."""
    return tuple(node.name for node in _parsed(path).body if isinstance(node, ast.ClassDef))


def function_names(path: Path) -> tuple[str, ...] | None:
    """What can be called by name at the top of a Python file; None where imports with a star or code may bring more. Raises as `job_functions` does."""
    names: list[str] = []
    for node in _parsed(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names += [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
        elif not isinstance(node, ast.Expr):
            return None
    return None if "*" in names else tuple(names)


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except OSError as problem:
        raise ConfigurationError(f"{display(path)} cannot be read: {problem.strerror}.") from None
    except (SyntaxError, ValueError) as problem:
        line = f" line {problem.lineno}" if isinstance(problem, SyntaxError) and problem.lineno else ""
        what = problem.msg if isinstance(problem, SyntaxError) else str(problem)
        raise ConfigurationError(f"{display(path)}{line}: not valid Python: {what}.") from None


def _function(node: ast.FunctionDef) -> JobFunction:
    returned = _returned(node)
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return JobFunction(
        name=node.name,
        line=node.lineno,
        parameters=tuple(argument.arg for argument in arguments),
        is_job=any(_last_name(decorator) == "job" for decorator in node.decorator_list),
        outputs=None if returned is None else tuple(returned),
        main_outputs=tuple(name for name, value in (returned or {}).items() if _last_name(value) not in GIVING),
    )


def _returned(node: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """The outputs in the one `return sp.Outputs(name=stream, ...)` of a function."""
    returned = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
    if len(returned) != 1 or not isinstance(returned[0], ast.Call) or _last_name(returned[0]) != "Outputs":
        return None
    keywords = {keyword.arg: keyword.value for keyword in returned[0].keywords if keyword.arg}
    return keywords if len(keywords) == len(returned[0].keywords) else None


def _last_name(node: ast.expr) -> str:
    """The last name of `sp.job`, `job` or `sp.job(...)`."""
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
