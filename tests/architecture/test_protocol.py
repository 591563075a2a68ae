"""docs/protocol.md has every rule that is cited anywhere, and each rule there names modules and tests that exist."""

import ast
import re
from pathlib import Path

import pytest

from architecture.modules import holds_for_each

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
RULES = dict(re.findall(r"^### R(\d+) · .+?\n(.*?)(?=^#{2,3} |\Z)", PAGE, re.DOTALL | re.MULTILINE))
PARTS = ("What must hold", "Without it", "Held in", "Tests")
CITING = sorted(
    path
    for folder in ("src", "jvm", "tests", "docs", "examples", "benchmarks")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".java", ".toml", ".md") and not {"__pycache__", ".streamproof", "build"} & set(path.parts)
) + sorted(ROOT.glob("*.md"))
CITED = re.compile(r"\bR(\d{1,2})\b|\btest_r(\d{1,2})_|\bR(\d{1,2}) to R(\d{1,2})\b|\bR(\d{1,2})-R(\d{1,2})\b")
PATH = re.compile(r"`([\w./-]+\.(?:py|java))`")


def numbers_in(text: str) -> set[str]:
    return {number for found in CITED.findall(text) for number in found if number}


def part_of(text: str, name: str) -> str:
    found = re.search(rf"^- \*\*{name}\.\*\*(.*?)(?=^- \*\*|\Z)", text, re.DOTALL | re.MULTILINE)
    return "" if found is None else found[1]


def places_in(text: str) -> list[Path]:
    """The files that a part names: a path without a top folder lies in src/streamproof."""
    return [
        ROOT / path if path.split("/")[0] in ("tests", "jvm", "src") else ROOT / "src" / "streamproof" / path
        for path in PATH.findall(text)
    ]


def citing(number: str) -> list[Path]:
    """Of the tests that a rule names the files that cite it."""
    return [path for path in places_in(part_of(RULES[number], "Tests")) if number in numbers_in(path.read_text(encoding="utf-8"))]


def always_run(path: Path, number: str) -> list[str]:
    """The tests of a rule in a file that are not marked `full`: those with its number in their name; where none has it, all."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    tests = [each for each in module.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")]
    about_it = [test for test in tests if re.match(rf"test_(\w+_)?r{number}_", test.name)] or tests
    return [test.name for test in about_it if "pytest.mark.full" not in map(ast.unparse, test.decorator_list)]


def test_the_rules_stand_there_once_and_in_order():
    assert re.findall(r"^### R(\d+) ", PAGE, re.MULTILINE) == [str(number) for number in range(1, len(RULES) + 1)]
    assert f"R1 to R{len(RULES)}" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_there_are_citations_to_look_at():
    assert len(set().union(*(numbers_in(path.read_text(encoding="utf-8")) for path in CITING))) > 25
    assert numbers_in("def test_r7_x, R3, R16-R20") == {"7", "3", "16", "20"}


@holds_for_each(CITING, lambda path: path.relative_to(ROOT).as_posix())
def test_every_rule_that_is_cited_is_on_the_page(path):
    assert numbers_in(path.read_text(encoding="utf-8")) <= set(RULES)


@pytest.mark.parametrize("number", RULES, ids=lambda number: f"R{number}")
def test_a_rule_says_what_holds_what_goes_wrong_where_and_by_which_test(number):
    said = {part: part_of(RULES[number], part).strip() for part in PARTS}

    assert all(said.values()), f"R{number} lacks {[part for part in PARTS if not said[part]]}"


@pytest.mark.parametrize("number", RULES, ids=lambda number: f"R{number}")
def test_a_rule_names_modules_and_tests_that_exist(number):
    modules, tests = places_in(part_of(RULES[number], "Held in")), places_in(part_of(RULES[number], "Tests"))

    assert modules
    assert tests
    assert [path for path in (*modules, *tests) if not path.is_file()] == []
    assert all(path.is_relative_to(ROOT / "tests") for path in tests)


@pytest.mark.parametrize("number", RULES, ids=lambda number: f"R{number}")
def test_the_tests_of_a_rule_cite_it(number):
    """So that the page cannot name a test that has nothing to do with the rule; what is not built yet has none."""
    assert citing(number), f"none of the tests named for R{number} cites it"


@pytest.mark.parametrize("number", RULES, ids=lambda number: f"R{number}")
def test_a_rule_keeps_a_test_that_every_run_has(number):
    assert any(always_run(path, number) for path in citing(number))
