"""The modules of a project that a file imports: those in its folder or its package, and what these import of it in turn."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MOST = 100
"""So many files are read; a job is made of fewer."""


@dataclass(frozen=True, eq=False)
class Imported:
    """What an imported name is: a module of the project, or a name in one."""

    module: ast.Module
    name: str = ""


class Modules:
    """A file and the modules of its project that it needs, parsed. What cannot be read is left out.

    Parameters
    ----------
    path, tree
        The file.
    """

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.paths = {tree: path}
        self.imported: dict[ast.Module, dict[str, Imported]] = {}
        self.stars: dict[ast.Module, list[ast.Module]] = {}
        self._read: dict[Path, ast.Module] = {path.resolve(): tree}
        waiting = [tree]
        for one in waiting:
            self.imported[one], self.stars[one] = {}, []
            for node in ast.walk(one):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    self._take(one, node)
            waiting += [each for each in self.paths if each not in waiting]

    def _take(self, importing: ast.Module, node: ast.Import | ast.ImportFrom) -> None:
        names, path = self.imported[importing], self.paths[importing]
        for alias in node.names:
            if isinstance(node, ast.Import):
                module = self._module(path, alias.name, 0)
                if module is not None:
                    names[alias.asname or alias.name] = Imported(module)
                continue
            before = node.module or ""
            below = self._module(path, f"{before}.{alias.name}".strip("."), node.level)
            module = below or self._module(path, before, node.level)
            if module is not None and alias.name == "*":
                self.stars[importing].append(module)
            elif module is not None:
                names[alias.asname or alias.name] = Imported(module, "" if below is not None else alias.name)

    def _module(self, path: Path, dotted: str, level: int) -> ast.Module | None:
        for folder in _folders(path, level):
            *packages, name = dotted.split(".")
            place = folder.joinpath(*packages)
            for file in (place / f"{name}.py", place / name / "__init__.py"):
                if file.is_file():
                    return self._parsed(file)
        return None

    def _parsed(self, file: Path) -> ast.Module | None:
        known = self._read.get(file.resolve())
        if known is not None or len(self._read) >= _MOST:
            return known
        try:
            tree = ast.parse(file.read_bytes(), filename=str(file))
        except (OSError, SyntaxError, ValueError):
            return None
        self._read[file.resolve()] = tree
        self.paths[tree] = file
        return tree


def _folders(path: Path, level: int) -> Iterator[Path]:
    """Where a module may lie: beside the file, and beside the packages that the file is in; of `from . import x` the package alone."""
    folder = path.parent
    if level:
        yield folder.joinpath(*[".."] * (level - 1))
        return
    yield folder
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
        yield folder


def run_on_import(tree: ast.Module) -> list[ast.stmt]:
    """The statements that an import runs: neither functions and classes, nor what is for the module as a program."""
    return [
        node
        for node in tree.body
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not _is_for_a_program(node)
    ]


def _is_for_a_program(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test))
