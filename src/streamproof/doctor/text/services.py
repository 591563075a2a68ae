"""Which calls of a program go to a service: by the library that they are of."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from streamproof.doctor.text.functions import own_functions
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import Function, name_of

LIBRARIES = frozenset(
    {
        "aiohttp",
        "asyncpg",
        "boto3",
        "cassandra",
        "elasticsearch",
        "grpc",
        "http",
        "httpx",
        "mysql",
        "opensearchpy",
        "oracledb",
        "psycopg",
        "psycopg2",
        "pymongo",
        "pymysql",
        "pyodbc",
        "redis",
        "requests",
        "sqlalchemy",
        "urllib",
    }
)
STORES = LIBRARIES | {"aiocache", "aioredis", "diskcache", "happybase", "memcache", "pymemcache", "valkey"}
METRICS = frozenset({"aws_embedded_metrics", "datadog", "ddtrace", "opentelemetry", "prometheus_client", "statsd"})
"""Libraries whose numbers are for watching the job: what a batch that runs again adds to them is no result."""
_TOGETHER = "pipeline"
"""What is collected and sent at once."""


def calls_to_services(program: Program, node: ast.AST) -> Iterator[ast.Call]:
    """The calls below a node that go to a service, by themselves or by functions of the file; each is the one below the node."""
    leading = _leading(program)
    for call in _calls_below(node):
        if _is_one(program, call) or not leading.isdisjoint(own_functions(program, call)):
            yield call


def libraries_behind(program: Program, node: ast.expr) -> set[str]:
    """The libraries that an expression is made by, as far as the text says it: "redis" of `redis.Redis()`, and of a name for it."""
    found = set[str]()
    for one in program.behind(node):
        if isinstance(one, ast.Name) and one.id in program.imports_at(one):
            found.add(program.full_name(one).split(".")[0])
    return found


def loops_over_rows(function: ast.AST) -> Iterator[ast.AST]:
    """The bodies of loops over what is collected: one for each row."""
    for node in ast.walk(function):
        if isinstance(node, ast.For) and _is_collected(node.iter):
            yield from node.body
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp) and any(
            _is_collected(one.iter) for one in node.generators
        ):
            yield node.elt


def bodies_of_loops(function: ast.AST, depth: int) -> Iterator[ast.AST]:
    """The statements that stand in so many loops at least."""
    for node in ast.iter_child_nodes(function):
        inside = isinstance(node, ast.For | ast.AsyncFor | ast.While)
        if inside and depth <= 1 and isinstance(node, ast.For | ast.AsyncFor | ast.While):
            yield from node.body
        else:
            yield from bodies_of_loops(node, depth - inside)


def _is_collected(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Call) and name_of(one.func) in ("collect", "toLocalIterator") for one in ast.walk(node))


def _is_one(program: Program, call: ast.Call) -> bool:
    name = program.full_name(call.func)
    if name.split(".")[0] in LIBRARIES:
        return name.rpartition(".")[2] != "Request"  # it is made, not sent
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root is call.func:
        return False
    made = [one for value in program.assigned(root.id, root) for one in ast.walk(value) if isinstance(one, ast.Call)]
    if any(name_of(one.func) == _TOGETHER for one in made):
        return False
    return any(program.full_name(one.func).split(".")[0] in LIBRARIES for one in made)


@lru_cache(maxsize=16)
def _leading(program: Program) -> frozenset[Function]:
    """The functions of the file that call a service, and those that call such a function."""
    callers: dict[Function, list[Function]] = {}
    found, waiting = set[Function](), list[Function]()
    for function in program.functions:
        for call in _calls_below(function):
            for called in own_functions(program, call):
                callers.setdefault(called, []).append(function)
            if _is_one(program, call):
                waiting.append(function)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += callers.get(one, [])
    return frozenset(found)


def _calls_below(node: ast.AST) -> Iterator[ast.Call]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Call))
