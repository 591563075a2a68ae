"""Which code of a job's files the proved function reaches, by names: a hint about any other line would name the wrong place.

A function is reached if its name stands in reached code: of the same file, of a module beside the job, or as a method of a class that is
reached. What a name is bound to at run time is not worked out: a name that stands there counts.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MOST_FILES = 200


@dataclass(frozen=True)
class Reached:
    """A piece of reached code: a function, a class, or a statement of the module's own; `tree` is the whole module."""

    file: Path
    tree: ast.Module
    node: ast.AST


@dataclass
class _Module:
    """A file of the job's: what it defines, and where the names come from that it imports from beside it."""

    file: Path
    tree: ast.Module
    defined: dict[str, Defined] = field(default_factory=dict)
    imported: dict[str, tuple[Path, str]] = field(default_factory=dict)
    """By name the module, and the name in it; empty for the module itself."""
    stars: list[Path] = field(default_factory=list)


def reached_code(file: Path, function: str) -> list[Reached]:
    """What the function reaches, in the order in which it is reached; without a function, what the script does. Nothing of a file that
    cannot be read.
    """
    return list(_Walk(file.parent).from_(file, function))


@dataclass
class _Walk:
    root: Path
    _modules: dict[Path, _Module | None] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)

    def from_(self, file: Path, function: str) -> Iterator[Reached]:
        first = self._module(file)
        if first is None:
            return
        waiting: list[tuple[_Module, ast.AST]] = []
        if function:
            waiting.extend(self._named(first, function))
        waiting.extend((first, node) for node in _own_statements(first.tree, as_script=not function))
        while waiting:
            module, node = waiting.pop(0)
            if id(node) in self._seen:
                continue
            self._seen.add(id(node))
            yield Reached(module.file, module.tree, node)
            waiting.extend(self._from_node(module, node))

    def _from_node(self, module: _Module, node: ast.AST) -> Iterator[tuple[_Module, ast.AST]]:
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                yield from self._named(module, part.id)
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name | ast.Attribute):
                owner = self._imported_module(module, ast.unparse(part.value))
                if owner is not None:
                    yield from self._named(owner, part.attr)
            elif isinstance(part, ast.Import | ast.ImportFrom):
                for path in self._files(module.file, part):
                    yield from self._statements(path)

    def _named(self, module: _Module, name: str, depth: int = 0) -> Iterator[tuple[_Module, ast.AST]]:
        """What a name stands for: a definition of the module, or of one that it is imported from."""
        if name in module.defined:
            yield module, module.defined[name]
        elif name in module.imported and depth < len(self._modules) + 1:
            path, other = module.imported[name]
            owner = self._module(path)
            if owner is not None and other:
                yield from self._named(owner, other, depth + 1)
        else:
            for path in module.stars:
                owner = self._module(path)
                if owner is not None and name in owner.defined:
                    yield owner, owner.defined[name]

    def _imported_module(self, module: _Module, name: str) -> _Module | None:
        path, other = module.imported.get(name, (None, ""))
        return self._module(path) if path is not None and not other else None

    def _statements(self, file: Path) -> Iterator[tuple[_Module, ast.AST]]:
        """What the import of a module does."""
        found = self._module(file)
        if found is not None:
            yield from ((found, node) for node in _own_statements(found.tree, as_script=False))

    def _module(self, file: Path) -> _Module | None:
        if file not in self._modules:
            self._modules[file] = self._read(file) if len(self._modules) < _MOST_FILES else None
        return self._modules[file]

    def _read(self, file: Path) -> _Module | None:
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):
            return None
        found = _Module(file, tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._take_in(found, node)
        for node in _top(tree.body):
            if isinstance(node, _BODIES):
                found.defined[node.name] = node
        return found

    def _take_in(self, module: _Module, node: ast.Import | ast.ImportFrom) -> None:
        """The names that an import binds to what lies beside the job."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                path = self._beside(alias.name.split("."))
                if path is not None:
                    module.imported[alias.asname or alias.name] = (path, "")
            return
        base = self._base(module.file, node)
        for alias in node.names:
            if alias.name == "*" and base is not None:
                module.stars.append(base)
                continue
            below = self._below(module.file, node, alias.name)
            if below is not None:
                module.imported[alias.asname or alias.name] = (below, "")
            elif base is not None:
                module.imported[alias.asname or alias.name] = (base, alias.name)

    def _files(self, file: Path, node: ast.Import | ast.ImportFrom) -> Iterator[Path]:
        """The files beside the job that an import runs."""
        if isinstance(node, ast.Import):
            found = [self._beside(alias.name.split(".")) for alias in node.names]
        else:
            found = [self._base(file, node), *(self._below(file, node, alias.name) for alias in node.names)]
        yield from (path for path in found if path is not None)

    def _base(self, file: Path, node: ast.ImportFrom) -> Path | None:
        """The file of the module that names are imported from."""
        parts = node.module.split(".") if node.module else []
        return _module_file(file.parents[node.level - 1], parts) if node.level else self._beside(parts)

    def _below(self, file: Path, node: ast.ImportFrom, name: str) -> Path | None:
        """The file of a module that is imported by its name, as in `from package import module`."""
        parts = [*(node.module.split(".") if node.module else []), name]
        return _module_file(file.parents[node.level - 1], parts) if node.level else self._beside(parts)

    def _beside(self, parts: Sequence[str]) -> Path | None:
        return _module_file(self.root, parts)


def _module_file(folder: Path, parts: Sequence[str]) -> Path | None:
    place = folder.joinpath(*parts)
    for file in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
        if parts and file.is_file():
            return file
    return None


def _top(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those within `if`, `try` and `with` too."""
    for node in statements:
        yield node
        for name in ("body", "orelse", "finalbody"):
            if not isinstance(node, _BODIES):
                yield from _top(getattr(node, name, ()))
        for handler in getattr(node, "handlers", ()):
            yield from _top(handler.body)


def _own_statements(tree: ast.Module, *, as_script: bool) -> Iterator[ast.AST]:
    """What runs when a module is imported, or run as a script: not the bodies of its functions and classes, but their decorators and
    defaults.
    """
    for node in tree.body:
        if not as_script and _is_main_block(node):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (*node.decorator_list, *node.args.defaults, *(each for each in node.args.kw_defaults if each is not None))
        elif isinstance(node, ast.ClassDef):
            yield from node.decorator_list
        else:
            yield node


def _is_main_block(node: ast.AST) -> bool:
    """Whether it is `if __name__ == "__main__":`."""
    return isinstance(node, ast.If) and any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test))
