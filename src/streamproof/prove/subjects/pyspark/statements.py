"""SQL that a job gives to Spark: whether it only reads, or touches nothing but the session. All else would write to a real place."""

import re
from collections.abc import Iterator

_READS = {"select", "show", "describe", "desc", "explain"}
_OF_THE_SESSION = {"set", "reset", "cache", "uncache", "clear", "refresh", "use", "declare"}
_QUERIES = {"with", "from", "table", "values", "("}
"""What a query begins with, or a statement that writes what a query gives."""
_WRITES = re.compile(r"(?<![\w.])(?:insert|merge|update|delete)\b(?!\s*\()", re.IGNORECASE)
_TEMPORARY = re.compile(
    r"\s*(?:create\s+(?:or\s+replace\s+)?(?:global\s+)?temp(?:orary)?\s+(?:view|function)\b"
    r"|drop\s+temp(?:orary)?\s+(?:function|variable)\b"
    r"|drop\s+view\s+(?:if\s+exists\s+)?(?:global_temp\s*\.\s*)?\w+\s*;?\s*$)",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\s*(\w+|\()")
_PIECES = re.compile(
    r"""(?P<quoted>(?<!\w)[rR]'[^']*'|(?<!\w)[rR]"[^"]*"|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`)"""
    r"|(?P<line>--(?:\\\n|[^\r\n])*)|(?P<open>/\*)|(?P<close>\*/)",
    re.DOTALL,
)


def without_comments(statement: str) -> str:
    """A statement with a blank in the place of each comment; what looks like one in quotes stays."""
    return "".join(text for text, _ in _parts(statement))


def writing(statement: str) -> str | None:
    """The words by which a statement writes, or does what is not known to be harmless; None where it is harmless."""
    parts = list(_parts(statement))
    bare = "".join("_" * len(text) if quoted else text for text, quoted in parts)
    begins = _FIRST.match(bare)
    first = begins[1].lower() if begins else ""
    if first in _READS or first in _OF_THE_SESSION or _TEMPORARY.match(bare):
        return None
    at = 0
    if first in _QUERIES:
        writes = _WRITES.search(bare)
        if writes is None:
            return None
        at = writes.start()
    return " ".join(without_comments(statement)[at:].split()[:3])


def _parts(statement: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a statement without its comments, and whether each is in quotes. Comments with stars lie in each other, as in Spark."""
    at = 0
    while found := _PIECES.search(statement, at):
        yield statement[at : found.start()], False
        at = found.end()
        if found["quoted"]:
            yield found["quoted"], True
        elif found["close"]:
            yield found["close"], False
        else:
            yield " ", False
            at = _after(statement, at) if found["open"] else at
    yield statement[at:], False


def _after(statement: str, at: int) -> int:
    """Where a comment ends that is open; the end of the statement where it does not."""
    depth = 1
    for mark in re.compile(r"/\*|\*/").finditer(statement, at):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(statement)
