"""A Python file of a job, parsed: its functions, what its names mean, and the part of it that a target reaches."""

import ast
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from streamproof.core.paths import display
from streamproof.doctor.finding import Place
from streamproof.doctor.text.classes import Classes
from streamproof.doctor.text.modules import Imported, Modules, run_on_import
from streamproof.doctor.text.syntax import Definition, Function, Scope, imports_in, method_of, name_of, parameters_of
from streamproof.errors import ConfigurationError

HOLE = "{}"
"""In a text that is put together, what the text of the program does not say."""
_DEEP = 8


@dataclass(frozen=True, eq=False)
class Program:
    """A Python file.

    Parameters
    ----------
    path
        The file.
    entry
        The function or class that the job begins with; "" for the whole file.
    """

    path: Path
    entry: str
    tree: ast.Module

    @classmethod
    def of(cls, path: Path, entry: str = "") -> "Program":
        """The program in a file.

        Raises
        ------
        ConfigurationError
            If it cannot be read or is not Python.
        """
        try:
            return cls(path, entry, ast.parse(path.read_bytes(), filename=str(path)))
        except OSError as problem:
            raise ConfigurationError(f"{display(path)} cannot be read: {problem.strerror}.") from None
        except (SyntaxError, ValueError) as problem:
            line = f" line {problem.lineno}" if isinstance(problem, SyntaxError) and problem.lineno else ""
            raise ConfigurationError(f"{display(path)}{line}: not valid Python.") from None

    def place(self, node: ast.AST) -> Place:
        """Where a node stands; of a method in a chain of calls the line of its name."""
        path = self.modules.paths[self.module_of(node)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return Place(path, node.func.end_lineno or node.lineno)
        return Place(path, getattr(node, "lineno", 0))

    def said(self, node: ast.AST) -> str:
        """The text of a node on one line, cut where it is long."""
        try:
            text = " ".join(ast.unparse(node).split())
        except RecursionError:  # a chain of hundreds of calls
            text = f"... .{method_of(node)}(...)"
        return text if len(text) <= 110 else f"{text[:107]}..."

    @cached_property
    def modules(self) -> Modules:
        """The file, and the modules of its project that it imports."""
        return Modules(self.path, self.tree)

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        return {child: node for tree in self.modules.paths for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def module_of(self, node: ast.AST) -> ast.Module:
        """The module that a node stands in."""
        while not isinstance(node, ast.Module):
            node = self.parents[node]
        return node

    def imports_at(self, node: ast.AST) -> Mapping[str, str]:
        """What each name that the module of a node imports is in full: {"F": "pyspark.sql.functions", "uuid4": "uuid.uuid4"}."""
        return self._imports[self.module_of(node)]

    @cached_property
    def _imports(self) -> Mapping[ast.Module, Mapping[str, str]]:
        return {tree: imports_in(tree) for tree in self.modules.paths}

    @cached_property
    def definitions(self) -> Mapping[str, Sequence[Definition]]:
        """The functions and classes of the file itself by name, those inside of others too."""
        return self._definitions[self.tree]

    @cached_property
    def _definitions(self) -> Mapping[ast.Module, Mapping[str, Sequence[Definition]]]:
        found: dict[ast.Module, dict[str, list[Definition]]] = {tree: {} for tree in self.modules.paths}
        for tree, named in found.items():
            for node in ast.walk(tree):
                if isinstance(node, Definition):
                    named.setdefault(node.name, []).append(node)
        return found

    @cached_property
    def functions(self) -> Sequence[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions of all modules."""
        named = [one for found in self._definitions.values() for each in found.values() for one in each]
        return [one for one in named if not isinstance(one, ast.ClassDef)]

    def defined(self, name: str, at: ast.AST) -> Sequence[Definition]:
        """The functions and classes that a name can mean where a node stands: of its module, or imported from one of the project."""
        return self._defined_in(self.module_of(at), name)

    def _defined_in(self, module: ast.Module, name: str, deep: int = _DEEP) -> Sequence[Definition]:
        own = self._definitions[module].get(name, [])
        if own or not deep:
            return own
        imported = self.modules.imported[module].get(name)
        if imported is not None:
            return self._defined_in(imported.module, imported.name, deep - 1) if imported.name else []
        return next((found for star in self.modules.stars[module] if (found := self._defined_in(star, name, deep - 1))), [])

    def in_module(self, node: ast.AST) -> Sequence[Definition]:
        """The functions and classes that `pipeline.build` means, where `pipeline` is a module of the project."""
        module = self._imported_module(node.value) if isinstance(node, ast.Attribute) else None
        return self._defined_in(module, name_of(node)) if module is not None else []

    def _imported_module(self, node: ast.expr) -> ast.Module | None:
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        names = self.modules.imported[self.module_of(node)]
        imported = names.get(ast.unparse(node)) if names else None
        return imported.module if imported is not None and not imported.name else None

    @cached_property
    def reached(self) -> tuple[ast.AST, ...]:
        """The nodes that the entry reaches by calling what is defined in the project; without an entry the whole file, and what it reaches."""
        begin = self.definitions.get(self.entry, []) if self.entry else []
        on_import = [node for tree in self.modules.paths if tree is not self.tree for node in run_on_import(tree)]
        waiting: list[ast.AST] = [*begin] or [*on_import, self.tree]
        seen = dict[ast.AST, None]()
        while waiting:
            for node in ast.walk(waiting.pop()):
                if node in seen:
                    continue
                seen[node] = None
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    waiting += [one for one in self.defined(node.id, node) if one not in seen]
                elif isinstance(node, ast.Attribute):  # a method of a class of the file
                    waiting += [
                        one
                        for one in self.definitions.get(node.attr, [])
                        if one not in seen and isinstance(self.parents.get(one), ast.ClassDef)
                    ]
                    waiting += [one for one in self.in_module(node) if one not in seen]
        return tuple(seen)

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        """The calls that the entry reaches, in the order of the text."""
        return tuple(
            sorted(
                (node for node in self.reached if isinstance(node, ast.Call)),
                key=lambda call: (call.func.end_lineno or 0, call.func.end_col_offset or 0),
            )
        )

    def scope_of(self, node: ast.AST) -> Scope:
        """The function that a node stands in, or the module."""
        while True:
            node = self.parents[node]
            if isinstance(node, Function | ast.Module):
                return node

    def assigned(self, name: str, at: ast.AST) -> Sequence[ast.expr]:
        """What is assigned to a name where a node stands: in its function, else in those around it, else in the module.

        It is the same object for every node that means the same name.
        """
        scope: Scope = self.scope_of(at)
        while True:
            found = self._values_in(scope).get(name)
            if found is not None:
                return found
            if isinstance(scope, ast.Module):
                return self._imported_values(scope, name)
            if isinstance(scope, Function) and name in parameters_of(scope):
                return ()
            scope = self.scope_of(scope)

    def _imported_values(self, module: ast.Module, name: str, deep: int = _DEEP) -> Sequence[ast.expr]:
        imported = self.modules.imported[module].get(name)
        places = [imported] if imported is not None and imported.name else []
        places += [Imported(star, name) for star in self.modules.stars[module]]
        for one in places if deep else ():
            found = self._values_in(one.module).get(one.name) or self._imported_values(one.module, one.name, deep - 1)
            if found:
                return found
        return ()

    def _values_in(self, scope: Scope) -> Mapping[str, Sequence[ast.expr]]:
        """The assignments of a scope by name; it is read once, since every look-up of a name needs it."""
        if scope not in self._read_scopes:
            found: dict[str, list[ast.expr]] = {}
            for name, value in _assignments(scope):
                found.setdefault(name, []).append(value)
            self._read_scopes[scope] = found
        return self._read_scopes[scope]

    @cached_property
    def _read_scopes(self) -> dict[Scope, Mapping[str, Sequence[ast.expr]]]:
        return {}

    @cached_property
    def _known(self) -> dict[tuple[ast.AST, int], str | None]:
        return {}

    def values_of(self, node: ast.AST) -> Sequence[ast.expr]:
        """What is assigned to the name that a node reads, `x` or `self.x`; the same object for every node that means the same."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self.assigned(node.id, node)
        if not isinstance(node, ast.Attribute):
            return ()
        module = self._imported_module(node.value)
        return self.classes.values_of(node) if module is None else self._values_in(module).get(node.attr, ())

    @cached_property
    def classes(self) -> Classes:
        return Classes(self)

    def full_name(self, node: ast.expr) -> str:
        """A name with what it was imported as: "pyspark.sql.functions.window" of `F.window`; "" for what is no name."""
        if isinstance(node, ast.Name):
            return self.imports_at(node).get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            before = self.full_name(node.value)
            return f"{before}.{node.attr}" if before else ""
        return ""

    def constant(self, node: ast.AST | None, deep: int = _DEEP) -> str | None:
        """The text of an expression as far as it is known, with "{}" for what is not; None where nothing of it is."""
        if node is None or not deep:
            return None
        if (node, deep) not in self._known:  # a name that is used twice is not worked out twice
            self._known[node, deep] = self._constant(node, deep)
        return self._known[node, deep]

    def _constant(self, node: ast.AST, deep: int) -> str | None:
        if isinstance(node, ast.Constant):
            return str(node.value).lower() if isinstance(node.value, bool) else str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(
                self.constant(part.value, deep - 1) or HOLE if isinstance(part, ast.FormattedValue) else self.constant(part) or ""
                for part in node.values
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
            parts = [self.constant(part, deep - 1) for part in (node.left, node.right)]
            between = "/" if isinstance(node.op, ast.Div) else ""
            return None if parts == [None, None] else between.join(HOLE if part is None else part for part in parts)
        if isinstance(node, ast.Name | ast.Attribute):
            found = self.values_of(node)
            return self.constant(found[0], deep - 1) if len(found) == 1 else None
        if isinstance(node, ast.Call) and len(node.args) == 1 and name_of(node.func) in ("str", "Path", "PurePosixPath"):
            return self.constant(node.args[0], deep - 1)
        return None

    def behind(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes of an expression, and those of what its names were assigned, each once."""
        waiting, seen = [node], set[ast.AST]()
        while waiting:
            for inner in ast.walk(waiting.pop()):
                if inner in seen:
                    continue
                seen.add(inner)
                yield inner
                waiting += [value for value in self.values_of(inner) if value not in seen]


def _assignments(scope: Scope) -> Iterator[tuple[str, ast.expr]]:
    """The assignments of a scope to plain names, without those of the functions inside of it."""
    body = scope.body if isinstance(scope.body, list) else []
    waiting: deque[ast.AST] = deque(body)
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif (
            isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr)
            and isinstance(node.target, ast.Name)
            and node.value is not None
        ):
            yield node.target.id, node.value
        elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
            yield node.optional_vars.id, node.context_expr
        waiting.extend(ast.iter_child_nodes(node))
