"""Whether two places of a program both run: they may stand in two branches of one condition, or in functions of which one is chosen."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import name_of

_LEAVES = ("exit", "_exit", "quit")
_SUITES = ("body", "orelse", "handlers", "finalbody", "cases")


class Both(IntEnum):
    """Whether two places are run in one run of the program."""

    NEVER = 0
    PERHAPS = 1
    SURELY = 2


Condition = tuple[str, bool]
"""The text of a condition, and whether it has to hold."""


@dataclass(frozen=True, eq=False)
class _Stand:
    """Where a place is reached from: itself, or a use of the function that it is in.

    Parameters
    ----------
    of
        The function that is used there; None for the place itself.
    conditions
        Those within the functions in between.
    is_called
        Whether each function in between is called, not only named.
    """

    node: ast.AST
    of: ast.AST | None
    conditions: frozenset[Condition]
    is_called: bool


def both_run(program: Program, one: ast.AST, other: ast.AST) -> Both:
    """Whether two places both run, as far as the text says it."""
    found = [
        _together(program, first, second)
        for first in _stands(program, one)
        for second in _stands(program, other)
        if first.node is not second.node
        and program.scope_of(first.node) is program.scope_of(second.node)
        and (first.of is None or first.of is not second.of)
    ]
    return max(found, default=Both.PERHAPS)


def _stands(program: Program, node: ast.AST) -> list[_Stand]:
    """A place, the uses of its function, the uses of the function that these are in, and so on."""
    found, seen = [_Stand(node, None, frozenset(), is_called=True)], {node}
    for stand in found:
        function = program.scope_of(stand.node)
        if isinstance(function, ast.Module):
            continue
        conditions = stand.conditions | _conditions(program, stand.node)
        for use, is_called in _uses(program, function):
            if use not in seen:
                seen.add(use)
                found.append(_Stand(use, function, conditions, is_called=is_called and stand.is_called))
    return found


@lru_cache(maxsize=1024)
def _uses(program: Program, function: ast.AST) -> tuple[tuple[ast.expr, bool], ...]:
    """Where a function is named, and whether it is called there."""
    if isinstance(function, ast.Lambda):
        return ((function, False),)
    return tuple(
        (node, _is_called(program, node))
        for node in program.reached
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and _can_mean(program, node, function)
    )


def _is_called(program: Program, node: ast.AST) -> bool:
    while isinstance(program.parents.get(node), ast.IfExp):  # (once if ever else for_ever)(rows)
        node = program.parents[node]
    above = program.parents.get(node)
    return isinstance(above, ast.Call) and above.func is node


def _can_mean(program: Program, node: ast.Name | ast.Attribute, function: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return function in program.defined(node.id, node)
    method = program.classes.method(node)
    if method is not None:
        return method is function
    is_named_so = isinstance(program.parents.get(function), ast.ClassDef) and name_of(node) == getattr(function, "name", "")
    return is_named_so or function in program.in_module(node)


def _together(program: Program, one: _Stand, other: _Stand) -> Both:
    """Whether two places of one function both run."""
    first_ways, other_ways = (_branches(program, stand.node) for stand in (one, other))
    if any(branch != other_ways.get(above, branch) for above, branch in first_ways.items()):
        return Both.NEVER
    if _leaves_before(program, one.node, other.node) or _leaves_before(program, other.node, one.node):
        return Both.NEVER
    conditions = [stand.conditions | _conditions(program, stand.node) for stand in (one, other)]
    first, second = conditions[0] - conditions[1], conditions[1] - conditions[0]
    if any(_contradict(left, right) for left in first for right in second):
        return Both.NEVER
    return Both.SURELY if one.is_called and other.is_called and not (first and second) else Both.PERHAPS


def _ancestors(program: Program, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What is around a node in its function, with the part of it that the node is in; the innermost first."""
    scope = program.scope_of(node)
    while node is not scope:
        above = program.parents[node]
        yield above, node
        node = above


def _branches(program: Program, node: ast.AST) -> dict[ast.AST, object]:
    """What has branches around a place, each with the branch that the place stands in; without what is run on every way."""
    found: dict[ast.AST, object] = {}
    for above, inside in _ancestors(program, node):
        if isinstance(above, ast.If | ast.IfExp) and inside is not above.test:
            found[above] = inside in above.body if isinstance(above, ast.If) else inside is above.body
        elif isinstance(above, ast.Try) and inside not in above.finalbody:
            found[above] = inside if isinstance(inside, ast.ExceptHandler) else "body"
        elif (isinstance(above, ast.Match) and isinstance(inside, ast.match_case)) or (
            isinstance(above, ast.Dict) and isinstance(program.parents.get(above), ast.Subscript)
        ):
            found[above] = inside
    return found


def _conditions(program: Program, node: ast.AST) -> frozenset[Condition]:
    """The conditions on which a place is reached in its function."""
    found = set[Condition]()
    for above, inside in _ancestors(program, node):
        if isinstance(above, ast.If | ast.While) and inside is not above.test and not isinstance(above.test, ast.Constant):
            found.add(_condition(above.test, holds=inside in above.body))
        elif isinstance(above, ast.IfExp) and inside is not above.test:
            found.add(_condition(above.test, holds=inside is above.body))
        elif isinstance(above, ast.BoolOp) and inside is not above.values[0]:
            found.add((ast.unparse(above), True))
        elif isinstance(above, ast.ExceptHandler | ast.match_case):
            found.add((f"{above.lineno if isinstance(above, ast.ExceptHandler) else above.pattern.lineno}", True))
    return frozenset(found)


def _condition(test: ast.expr, *, holds: bool) -> Condition:
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    return ast.unparse(test), holds


def _contradict(one: Condition, other: Condition) -> bool:
    """Whether two conditions cannot both be: `ever` and `not ever`, `way == "once"` and `way == "always"`."""
    if one[0] == other[0]:
        return one[1] != other[1]
    left, right = (ast.parse(text, mode="eval").body for text, _ in (one, other))
    return one[1] and other[1] and _is_equality(left) and _is_equality(right) and _compared(left) == _compared(right)


def _is_equality(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and isinstance(node.ops[0], ast.Eq)
        and isinstance(node.comparators[0], ast.Constant)
    )


def _compared(node: ast.expr) -> str:
    return ast.unparse(node.left) if isinstance(node, ast.Compare) else ""


def _leaves_before(program: Program, one: ast.AST, later: ast.AST) -> bool:
    """Whether the way through one place leaves the function, or the loop, before it comes to another."""
    around = dict(_ancestors(program, later))
    has_left = in_loop = False
    for above, inside in _ancestors(program, one):
        suite = _suite_of(above, inside)
        if above in around:
            there = around[above]
            return has_left and suite is not None and there in suite and suite.index(there) > suite.index(inside)
        has_left = has_left or (suite is not None and _leaves(suite, in_loop=in_loop))
        in_loop = in_loop or isinstance(above, ast.For | ast.AsyncFor | ast.While)
    return False


def _suite_of(above: ast.AST, inside: ast.AST) -> list[ast.AST] | None:
    """The statements among which one stands."""
    return next((suite for name in _SUITES if isinstance(suite := getattr(above, name, None), list) and inside in suite), None)


def _leaves(suite: Sequence[ast.AST], *, in_loop: bool) -> bool:
    """Whether nothing after some statements is reached."""
    last = suite[-1]
    if isinstance(last, ast.Continue | ast.Break):
        return not in_loop
    if isinstance(last, ast.Return | ast.Raise):
        return True
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return name_of(last.value.func) in _LEAVES
    if isinstance(last, ast.With):
        return _leaves(last.body, in_loop=in_loop)
    return isinstance(last, ast.If) and bool(last.orelse) and all(_leaves(one, in_loop=in_loop) for one in (last.body, last.orelse))
