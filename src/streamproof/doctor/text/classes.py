"""The classes of a program: what `self.x` holds, and which method `self.method` is."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from streamproof.doctor.text.syntax import Definition, Function, is_static, name_of, parameters_of


class Names(Protocol):
    """What the names of a text mean, as a program says it."""

    @property
    def parents(self) -> Mapping[ast.AST, ast.AST]: ...

    def scope_of(self, node: ast.AST) -> ast.AST: ...

    def assigned(self, name: str, at: ast.AST) -> Sequence[ast.expr]: ...

    def defined(self, name: str, at: ast.AST) -> Sequence[Definition]: ...

    def in_module(self, node: ast.AST) -> Sequence[Definition]: ...


class Classes:
    """The classes of a program, as its text uses them."""

    def __init__(self, program: Names) -> None:
        self.program = program
        self._known: dict[ast.expr, ast.ClassDef | None] = {}
        self._read_classes: dict[ast.ClassDef, Mapping[str, Sequence[ast.expr]]] = {}

    def values_of(self, node: ast.Attribute) -> Sequence[ast.expr]:
        """What is assigned to `self.x`; the same object for every node that means the same."""
        kind = self.class_of(node.value)
        return self._attributes_of(kind).get(node.attr, ()) if kind is not None else ()

    def class_of(self, node: ast.expr) -> ast.ClassDef | None:
        """The class of the file that an expression is, or is an object of: `self` in a method, `Job(spark)`, a name for one of these."""
        if node not in self._known:
            self._known[node] = None  # for `a = b`, `b = a`
            self._known[node] = self._class_of(node)
        return self._known[node]

    def _class_of(self, node: ast.expr) -> ast.ClassDef | None:
        called = node.func if isinstance(node, ast.Call) else node
        named = self.program.defined(called.id, called) if isinstance(called, ast.Name) else self.program.in_module(called)
        for one in named:
            if isinstance(one, ast.ClassDef):
                return one
        if not isinstance(called, ast.Name):
            return None
        around = self.program.scope_of(called)
        while not isinstance(around, ast.Module):
            kind = self.program.parents[around]
            if isinstance(kind, ast.ClassDef) and isinstance(around, Function):
                if called.id == "super":
                    return next(iter(self._lineage(kind)[1:]), None)
                if called.id in parameters_of(around)[:1] and not is_static(around):
                    return kind
            around = self.program.scope_of(around)
        return next((made for value in self.program.assigned(called.id, called) if (made := self._class_made_by(value))), None)

    def _class_made_by(self, value: ast.expr) -> ast.ClassDef | None:
        return self.class_of(value) if isinstance(value, ast.Call) else None

    def method(self, node: ast.expr) -> "ast.FunctionDef | ast.AsyncFunctionDef | None":
        """The method of a class of the file that `self.method` or `Job(spark).method` means."""
        kind = self.class_of(node.value) if isinstance(node, ast.Attribute) else None
        return self.method_named(kind, name_of(node)) if kind is not None else None

    def method_named(self, kind: ast.ClassDef, name: str) -> "ast.FunctionDef | ast.AsyncFunctionDef | None":
        """The method of a class, or of one that it is derived from."""
        own = (one for each in self._lineage(kind) for one in each.body)
        return next((one for one in own if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name), None)

    def _lineage(self, kind: ast.ClassDef) -> list[ast.ClassDef]:
        """A class, and those of the file that it is derived from."""
        found = [kind]
        for one in found:
            for base in one.bases:
                found += [
                    each
                    for each in self.program.in_module(base) or self.program.defined(name_of(base), base)
                    if isinstance(each, ast.ClassDef) and each not in found
                ]
        return found

    def _attributes_of(self, kind: ast.ClassDef) -> Mapping[str, Sequence[ast.expr]]:
        """What the methods of a class assign to `self.x`, what its body does, and what its properties return.

        A field with an annotation is left out: a constructor gives it another value.
        """
        if kind not in self._read_classes:
            found: dict[str, list[ast.expr]] = {}
            for name, value in (pair for each in self._lineage(kind) for pair in _attributes(each)):
                found.setdefault(name, []).append(value)
            self._read_classes[kind] = found
        return self._read_classes[kind]


def _attributes(kind: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for one in kind.body:
        if isinstance(one, ast.Assign):
            yield from ((target.id, one.value) for target in one.targets if isinstance(target, ast.Name))
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            own, is_property = parameters_of(one)[:1], any("property" in name_of(each) for each in one.decorator_list)
            for node in ast.walk(one):
                if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
                    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                        if isinstance(target, ast.Attribute) and name_of(target.value) in own:
                            yield target.attr, node.value
                elif is_property and isinstance(node, ast.Return) and node.value is not None:
                    yield one.name, node.value
