"""Small questions about the syntax of Python: what a node is called, what a call is given."""

import ast

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Scope = ast.Module | Function | ast.ClassDef


def name_of(node: ast.AST) -> str:
    """The last name of `uuid.uuid4`, `uuid4`; "" for what has none."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def method_of(node: ast.AST) -> str:
    """The name of the method that a call is of; "" where it is none."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def parameters_of(function: Function) -> list[str]:
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def is_static(function: Function) -> bool:
    """Whether a method gets no object."""
    return not isinstance(function, ast.Lambda) and any(name_of(one) == "staticmethod" for one in function.decorator_list)


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """An argument by its place or its name; None where it is not given."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return named if named is not None else call.args[place] if place < len(call.args) else None


def imports_in(tree: ast.Module) -> dict[str, str]:
    """What each name that a module imports is in full."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {
                alias.asname or alias.name.split(".")[0]: alias.name if alias.asname else alias.name.split(".")[0]
                for alias in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found
