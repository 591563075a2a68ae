"""Nexmark: its queries are all there or named with a reason, its page has what was found of them."""

import ast
from pathlib import Path

import pytest
from benchmarks.nexmark.__main__ import main
from benchmarks.nexmark.generator import CYCLE, FIELDS, SHARES, SIDE_INPUT, events_of
from benchmarks.nexmark.measuring import mean_and_worst, measured
from benchmarks.nexmark.page import drawn, not_said, queries, results
from benchmarks.nexmark.queries import NOT_SAID, QUERIES
from benchmarks.nexmark.twins import TWINS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "nexmark.md"
ROOT = Path(__file__).parents[2] / "benchmarks" / "nexmark" / "queries"


def test_each_query_is_there_or_named_with_its_reason():
    assert {*QUERIES, *NOT_SAID} == {f"q{number}" for number in range(23)}
    assert not set(QUERIES) & set(NOT_SAID)
    assert all(query.reason for query in NOT_SAID.values())


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_query_has_its_job_and_what_it_reads_in_its_file(query):
    names = {node.name for node in ast.parse(query.file.read_text()).body if isinstance(node, ast.FunctionDef)}

    assert query.file == ROOT / f"{query.name}.py"
    assert query.name in names
    assert query.job.sources == tuple(query.reads)
    assert set(query.tables) <= {SIDE_INPUT}
    assert all(set(columns) <= set(FIELDS[source]) for source, columns in query.reads.items())
    assert not query.timed or all("dateTime" in columns for columns in query.reads.values())


def test_the_model_says_every_query_that_goes_by_event_time():
    assert set(TWINS) == {name for name, query in QUERIES.items() if query.timed}


def test_the_page_has_the_queries_as_they_are():
    page = PAGE.read_text(encoding="utf-8")

    assert queries() in page
    assert not_said() in page


def test_a_page_is_drawn_again_and_again_and_keeps_its_text():
    found = {"q1": {"rows": 12, "differences": [], "model": False}}
    page = PAGE.read_text(encoding="utf-8")
    once = drawn(page, found)

    assert drawn(once, found) == once
    assert drawn(once, {}) != once
    assert page.split("<!-- results -->")[0] == once.split("<!-- results -->")[0]
    assert page.split("<!-- end of results -->")[1] == once.split("<!-- end of results -->")[1]


def test_a_page_without_a_place_for_a_table_is_refused():
    with pytest.raises(ValueError, match="no place for the table 'queries'"):
        drawn("# Nexmark\n", {})


def test_results_say_what_was_not_found():
    found = {
        "q0": {"rows": 1_200, "differences": [], "model": False},
        "q5": {"rows": 7, "differences": ["only ours has 1 rows"], "model": True},
        "q7": {
            "rows": 9,
            "differences": [],
            "model": True,
            "ours_ns": 120.4,
            "by_hand_ns": 118.0,
            "ratio": 1.02,
            "low": 1.0,
            "high": 1.04,
        },
    }
    rows = dict(line.split(" | ", 1) for line in results(found).splitlines())

    assert rows["| q0"] == "1,200, equal |  | not measured | not measured | not measured |"
    assert rows["| q1"].startswith("not compared |")
    assert rows["| q5"].startswith("differ |  |")
    assert rows["| q7"] == "9, equal | equal | 120 ns | 118 ns | 1.020 (1.00 to 1.04) |"
    assert "Geometric mean" not in results(found)


def test_the_mean_stands_only_below_all_queries():
    one = {"rows": 1, "differences": [], "model": True, "ours_ns": 1.0, "by_hand_ns": 1.0, "low": 1.0, "high": 1.0}
    found = {name: {**one, "ratio": 1.2 if name == "q20" else 1.0} for name in QUERIES}

    assert results(found).endswith(
        "Geometric mean of the ratios: 1.008 (aim: at most 1.03). Worst: q20, 1.200 (aim: at most 1.10)."
    )


def test_what_pairs_say():
    found = measured([(2.0, 1.0), (3.0, 2.0), (4.0, 4.0), (5.0, 5.0), (6.0, 3.0)], 1_000_000_000)

    assert (found.ours_ns, found.by_hand_ns, found.ratio) == (4.0, 3.0, 1.5)
    alone = measured([(3.0, 2.0)], 1_000)
    assert (alone.low, alone.ratio, alone.high) == (1.5, 1.5, 1.5)
    assert mean_and_worst({"q1": 1.0, "q2": 4.0}) == (2.0, "q2")


def test_events_are_counted_by_their_shares():
    assert sum(events_of([kind], 5_000) for kind in SHARES) == 5_000
    assert events_of(["persons", "auctions"], CYCLE * 2) == 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["q12"], "error  q12 is not said. Windows go by event time"),
        (["q23"], "error  No query is called q23; there are q0, q1,"),
    ],
)
def test_a_query_that_is_not_there_is_refused_with_the_reason(monkeypatch, words, said):
    monkeypatch.setattr("sys.argv", ["nexmark", *words])

    with pytest.raises(SystemExit) as ended:
        main()

    assert str(ended.value).startswith(said)


def test_events_that_do_not_fill_the_files_are_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["nexmark", "q1", "--events", "1000"])

    with pytest.raises(SystemExit):
        main()

    assert "1000 is no multiple of 400: 8 files of whole cycles of 50 events" in capsys.readouterr().err
