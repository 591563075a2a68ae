"""Where the rows of a batch go: what becomes of a part of them, and whether all of them go anywhere."""

import ast
from collections.abc import Iterator
from enum import IntEnum

from streamproof.doctor.text.given import calls_in
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import Function, argument, method_of, name_of

CUTS = ("limit", "head", "take", "tail")
_ONE = "1"
"""Whether there is a row at all is asked so."""
_LOOKS = ("show", "count", "isEmpty", "explain", "printSchema")
_NO_ROWS = (*_LOOKS, "schema", "columns", "dtypes", "sparkSession", "isStreaming", "storageLevel")
_SAYS = ("print", "pprint", "display", "len", "bool", "any", "all", "isinstance")
_SAYS_AS_METHOD = ("debug", "info", "warning", "warn", "error", "exception", "critical", "log")
_TAKES_ALL = ("collect", "toPandas", "toLocalIterator", "foreach", "foreachPartition", "toArrow", "createOrReplaceTempView")
_WRITES = ("write", "writeTo")


class Use(IntEnum):
    """What becomes of rows."""

    LOOKED_AT = 0
    HANDED_ON = 1
    WRITTEN = 2


def cuts_in(program: Program, function: Function) -> Iterator[ast.Call]:
    """The calls by which a function takes a part of what it is given."""
    for call in calls_in(function):
        number = argument(call, 0, "num") or argument(call, 0, "n")
        if method_of(call) in CUTS and number is not None and program.constant(number) != _ONE:
            yield call


def use_of(program: Program, node: ast.expr) -> Use:
    """The gravest of what becomes of an expression: it goes on by its names too."""
    waiting: list[ast.AST] = [node]
    seen, found = set[ast.AST](), Use.LOOKED_AT
    while waiting and found is not Use.WRITTEN:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            use, more = _step(program, one)
            found, waiting = max(found, use), [*waiting, *more]
    return found


def _step(program: Program, node: ast.AST) -> tuple[Use, list[ast.AST]]:
    """What becomes of a value where it stands, or where to look on."""
    above = program.parents[node]
    if isinstance(above, ast.Attribute):
        return (Use.WRITTEN, []) if above.attr in _WRITES else (Use.LOOKED_AT, [] if above.attr in _LOOKS else [above])
    if isinstance(above, ast.Call):
        if above.func is node:
            return Use.LOOKED_AT, [above]
        return (Use.LOOKED_AT if _only_says(above) else Use.HANDED_ON), []
    if isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr):
        targets = above.targets if isinstance(above, ast.Assign) else [above.target]
        if not all(isinstance(target, ast.Name) for target in targets):
            return Use.HANDED_ON, []
        on = [above] if isinstance(above, ast.NamedExpr) else []
        return Use.LOOKED_AT, [*on, *(use for target in targets for use in _uses_of(program, target))]
    if isinstance(above, ast.For | ast.comprehension):
        rows = _uses_of(program, above.target) if node is above.iter else []
        return Use.LOOKED_AT, [*rows, *([program.parents[above]] if isinstance(above, ast.comprehension) else [])]
    if isinstance(above, ast.Return | ast.Yield | ast.YieldFrom | ast.Lambda | ast.AugAssign):
        return Use.HANDED_ON, []
    if isinstance(above, ast.If | ast.While | ast.Assert | ast.Compare | ast.UnaryOp | ast.stmt):
        return Use.LOOKED_AT, []
    if isinstance(above, ast.IfExp) and node is above.test:
        return Use.LOOKED_AT, []
    return Use.LOOKED_AT, [above]


def _only_says(call: ast.Call) -> bool:
    """Whether a call shows what it is given, or asks how much it is."""
    return method_of(call) in _SAYS_AS_METHOD or (isinstance(call.func, ast.Name) and call.func.id in _SAYS)


def _uses_of(program: Program, target: ast.expr) -> list[ast.AST]:
    """Where the names of a target are read, in its function."""
    names = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
    return [
        one
        for one in ast.walk(program.scope_of(target))
        if isinstance(one, ast.Name) and one.id in names and isinstance(one.ctx, ast.Load)
    ]


def all_go_on(program: Program, function: Function, rows: str) -> bool:
    """Whether a function writes, or hands on, rows that no part was taken of.

    Parameters
    ----------
    rows
        The parameter that gets the batch; "" where there is none.
    """
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and node.attr in (*_WRITES, *_TAKES_ALL) and not _is_part(program, node.value):
            return True
        if isinstance(node, ast.Call) and not _only_says(node):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(_is_batch(program, one, rows) for one in given):
                return True
    return False


def _is_part(program: Program, node: ast.expr) -> bool:
    return any(method_of(one) in CUTS for one in _made_of(program, node))


def _is_batch(program: Program, node: ast.expr, rows: str) -> bool:
    """Whether an expression is a DataFrame with all rows of a batch, or made of all of them."""
    made_of = list(_made_of(program, node))
    if any(name_of(one) in _NO_ROWS for one in made_of if isinstance(one, ast.Attribute)):
        return False
    return any(isinstance(one, ast.Name) and one.id == rows for one in made_of) and not _is_part(program, node)


def _made_of(program: Program, node: ast.expr) -> Iterator[ast.expr]:
    """An expression, what it is called on, and so on, by names too."""
    waiting, seen = [node], set[ast.expr]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        if isinstance(one, ast.Call):
            waiting.append(one.func)
        elif isinstance(one, ast.Attribute):
            waiting.append(one.value)
        waiting += program.values_of(one)
