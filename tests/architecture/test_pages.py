"""The pages for those who work on Streamproof: ARCHITECTURE.md is one page and names what is there, each decision gives its reason."""

import re
from pathlib import Path

import pytest

from architecture.modules import MODULES, imports, name_of

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "streamproof"
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
DECISIONS = sorted(path for path in (ROOT / "docs" / "decisions").glob("*.md") if path.name != "README.md")
CONTRIBUTING = sorted((ROOT / "docs" / "contributing").glob("*.md"))
LINES_OF_A_PAGE = 110


def rows_of(heading: str) -> set[str]:
    """What the first cells of the table below a heading name as folders."""
    below = ARCHITECTURE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `(\w+)/` \|", below, re.MULTILINE))


def packages_in(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def test_the_architecture_is_one_page():
    assert len(ARCHITECTURE.splitlines()) <= LINES_OF_A_PAGE


def test_it_names_every_package_and_every_room_of_the_proof_and_no_other():
    assert rows_of("The packages") == packages_in(SOURCE)
    assert rows_of("The rooms of `prove/`") == {path.name for path in (SOURCE / "prove").iterdir() if any(path.glob("*.py"))}


def test_it_names_every_connector():
    assert all(f"`{path.name}`" in ARCHITECTURE for path in (SOURCE / "connectors").iterdir() if any(path.glob("*.py")))


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_says_what_why_and_what_it_costs(path):
    """A heading without these three is a heading over others, or a table that belongs to one of them."""
    decisions = re.split(r"^#{2,3} ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    lacking = [
        text.splitlines()[0]
        for text in decisions
        if "- **What.**" in text and not ("- **Why.**" in text and "- **What it costs.**" in text)
    ]

    assert sum("- **What.**" in text for text in decisions) >= 4
    assert lacking == []


def test_the_index_of_the_decisions_has_each_page():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")

    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == {path.name for path in DECISIONS}


def test_each_page_that_says_how_to_add_something_is_linked():
    pages = {path.name for path in CONTRIBUTING if path.name != "README.md"}

    index = (ROOT / "docs" / "contributing" / "README.md").read_text(encoding="utf-8")

    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == pages
    assert "](docs/contributing/README.md)" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("operator.md", {"Shifts", "shifts", "PlainShifts"}),
        ("source.md", {"RateSource"}),
        ("sink.md", {"RedisSink"}),
    ],
)
def test_a_page_names_each_file_that_a_kind_which_is_there_is_imported_in(page, names):
    """Who adds another one has to touch them too."""
    text = (ROOT / "docs" / "contributing" / page).read_text(encoding="utf-8")
    told = re.findall(r"`(src/streamproof/[\w./-]+)`", text)
    touched = [
        f"src/streamproof/{name_of(path)}" for path in MODULES if names & {name.rpartition(".")[2] for name, _ in imports(path)}
    ]

    assert touched
    assert [path for path in touched if not any(path == one or (one.endswith("/") and path.startswith(one)) for one in told)] == []


def test_no_row_for_contributors_has_to_be_searched_for_what_it_says():
    """A table with rows of 1,200 characters was read by nobody."""
    lines = [line for path in (ROOT / "CONTRIBUTING.md", *CONTRIBUTING) for line in path.read_text(encoding="utf-8").splitlines()]

    assert [line for line in lines if len(line) > 300] == []


def test_what_contributors_are_told_to_touch_is_there():
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "CONTRIBUTING.md", *CONTRIBUTING))
    named = re.findall(r"`((?:src|tests|docs|jvm)/[\w./-]+)`", text)

    assert len(named) > 80
    assert [path for path in named if not (ROOT / path).exists()] == []
