"""The modules of the source, and what their text says that they import and name."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "streamproof"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if "templates" not in path.relative_to(SOURCE).parts)


@cache
def parsed(path: Path) -> ast.Module:
    """The tree of a module's text."""
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def holds_for_each(
    paths: Sequence[Path], name: Callable[[Path], str] = name_of
) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Makes a check of one file a test of all files, which names every file that fails. Tests of one file each would be some 16,000."""
    assert paths, "nothing would be checked"

    def one_test(test: Callable[[Path], None]) -> Callable[[], None]:
        def of_all() -> None:
            failures = []
            for path in paths:
                try:
                    test(path)
                except AssertionError as problem:
                    failures.append(f"{name(path)}: {problem}")
            assert not failures, "\n".join(failures)

        of_all.__name__, of_all.__doc__, of_all.__module__ = test.__name__, test.__doc__, test.__module__
        return of_all

    return one_test


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def module_of(path: Path) -> str:
    return ".".join(("streamproof", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every imported module with its line, wherever in the file, those for type checking left out."""
    tree = parsed(path)
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


@cache
def named(path: Path) -> frozenset[str]:
    """Every module and name that is imported, also for types and locally, and modules that are named in a text."""
    return imported(path) | {name for node in ast.walk(parsed(path)) for name in _in_text(node)}


@cache
def imported(path: Path) -> frozenset[str]:
    """Every module and name that is imported, also for types and locally."""
    return frozenset(name for node in ast.walk(parsed(path)) for name in _imported(node))


def _in_text(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"streamproof(\.\w+)+", node.value):
        return [node.value]
    return []


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
