"""Sentences are for people: no code decides by the words of a message, a remedy, a finding, a note or a reason. Each has a code, and that decides."""

import ast
import importlib
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from architecture.modules import MODULES, SOURCE, holds_for_each, name_of
from streamproof import errors
from streamproof.core.ends import End
from streamproof.core.notes import NoteCode
from streamproof.core.rejections import Rejection
from streamproof.doctor.finding import Code
from streamproof.errors import StreamproofError
from streamproof.prove.checkers import Undecided, registry
from streamproof.prove.process.guard import HostRefused
from streamproof.prove.record.build import BlobChanged

ROOT = SOURCE.parents[1]
SENTENCES = ("message", "remedy", "required", "what", "how", "says", "reason")
SIDES = ("expected", "found")
"""Of a finding in a report: the two sides of the mismatch."""
ASKS = ("startswith", "endswith", "removeprefix", "find", "index", "search", "match", "fullmatch", "findall")
FOREIGN = {
    ("connectors/postgres/database.py", "said.message"): "PostgreSQL says no more before a connection stands: no SQLSTATE",
    ("core/rejections.py", "reason"): "the one place that knows the code of a reason",
}
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def sentences(node: ast.AST) -> Iterator[str]:
    """The sentences that an expression reads: `finding.what`, `entry["how"]`, and variables that are called `note`."""
    for inner in ast.walk(node):
        is_attribute = isinstance(inner, ast.Attribute) and inner.attr in SENTENCES
        is_key = (
            isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Constant) and inner.slice.value in (*SENTENCES, *SIDES)
        )
        if is_attribute or is_key or (isinstance(inner, ast.Name) and inner.id in ("note", "remedy", "reason")):
            yield ast.unparse(inner)


def decisions(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Where a sentence is compared with words, or searched for them: the line and the sentence."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                if isinstance(operator, ast.In | ast.NotIn):
                    asked = "" if isinstance(left, ast.Name) and left.id == "note" else right
                elif isinstance(operator, ast.Eq | ast.NotEq):
                    words = [side for side in (left, right) if isinstance(side, ast.Constant) and side.value]
                    asked = (right if words == [left] else left) if words else ""
                else:
                    asked = ""
                yield from ((node.lineno, said) for said in (sentences(asked) if asked else ()))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKS:
            for asked in (node.func.value, *node.args):
                yield from ((node.lineno, said) for said in sentences(asked))


@holds_for_each(MODULES)
def test_nothing_is_decided_by_words(path: Path) -> None:
    found = [
        f"line {line}: {said}" for line, said in decisions(ast.parse(path.read_text())) if (name_of(path), said) not in FOREIGN
    ]

    assert not found, "give it a code, and decide by that"


@pytest.mark.parametrize(
    "decision",
    [
        'if "--replay-last" in result.remedy: pass',
        "if result.message.startswith(DISK_FULL): pass",
        'x = any(said in f"{finding.what} {finding.how}" for finding in findings)',
        "x = any(INTERRUPTED in note for note in notes)",
        "x = all(any(key in note for note in notes) for key in keys)",
        'if finding["what"] == "is lost": pass',
        'fits = "event time" in reason',
        'rounded = re.compile("[0-9]+").findall(finding["expected"]) and "1" in finding["found"]',
        'if re.search("full", problem.message): pass',
    ],
)
def test_the_ban_sees_what_it_should(decision: str) -> None:
    assert list(decisions(ast.parse(decision)))


def test_the_ban_lets_sentences_be_printed() -> None:
    assert not list(decisions(ast.parse("print(problem.message, finding['what']); x = [note for note in a if note not in b]")))


def test_no_finding_is_made_with_a_code_written_by_hand() -> None:
    """A code is a member of an enumeration, so that it can be listed."""
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Finding", "Note", "NotMet")
        and any(isinstance(argument, ast.Constant) for argument in node.args[:1])
        and name_of(path) not in ("runtime/checks/preflight.py", "cli/check.py")  # a Finding of their own
    ]

    assert not found


def codes_of_errors() -> dict[str, str]:
    classes, waiting = {}, [StreamproofError]
    while waiting:
        each = waiting.pop()
        waiting += each.__subclasses__()
        if each.__module__.startswith("streamproof."):
            classes[each.__name__] = each.code
    return classes


def test_every_error_has_a_code_of_its_own_and_the_tree_shows_it() -> None:
    codes = codes_of_errors()

    assert len(set(codes.values())) == len(codes)
    assert all(KEBAB.fullmatch(code) for code in codes.values())
    assert {"HostRefused", "BlobChanged"} <= codes.keys()
    assert (HostRefused.__module__, BlobChanged.__module__) != (errors.__name__, errors.__name__)
    drawn = dict(re.findall(r"(\w+) +\[([\w-]+)\]", errors.__doc__ or ""))
    assert drawn == {name: code for name, code in codes.items() if getattr(errors, name, None) is not None}


def codes_of_checks() -> dict[str, set[str]]:
    """What each module with checks can find."""
    modules = {check.__module__ for check in registry().values()} | {
        "streamproof.prove.checkers.side_rows",
        "streamproof.prove.subjects.job.shipped",
        "streamproof.prove.judging",
        "streamproof.prove.subjects.job.future_limit",
        "streamproof.prove.subjects.pyspark.checks",
        "streamproof.prove.subjects.pyspark.differences",
    }
    found = {}
    for module in sorted(modules - {"streamproof.prove.checkers.late_routing"}):  # those of side rows
        code = importlib.import_module(module).Code
        assert issubclass(code, StrEnum)
        found[module] = set(code)
    return found


def test_every_code_is_kebab_case_and_stands_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "codes.md").read_text()
    written = set(re.findall(r"`([a-z0-9-]+)`", page))
    codes = {
        *codes_of_errors().values(),
        *NoteCode,
        *Rejection,
        *End,
        *Undecided,
        *Code,
        *(code for found in codes_of_checks().values() for code in found),
    }

    assert all(KEBAB.fullmatch(code) for code in codes)
    assert not codes - written
