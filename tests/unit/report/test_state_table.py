"""A state as a table in the terminal."""

import io
from decimal import Decimal

import pytest
from rich.console import Console

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.report.inspect import size_of
from streamproof.report.state_table import cell, print_table
from unit.checkpoint.written import WINDOWS

COLUMNS = {"window_end": "timestamp", "client": "string", "n": "bigint"}
ROWS = [{"window_end": "2026-01-05T09:01:00.000000Z", "client": "c1", "n": 7}, {"window_end": None, "client": "c1000", "n": 12}]


def printed(rows, limit=20, columns=COLUMNS):
    found = inspect_checkpoint(WINDOWS)
    console = Console(file=io.StringIO(), width=200)
    print_table(found, found.operators[0], None, columns, rows, limit, console)
    return console.file.getvalue().splitlines()


def test_columns_stand_below_each_other_and_numbers_to_the_right():
    assert printed(ROWS) == [
        f"{WINDOWS} · operator 0, aggregate, after batch 4",
        "  window_end            client    n",
        "  2026-01-05 09:01:00   c1        7",
        "  null                  c1000    12",
    ]


def test_decimals_stand_to_the_right_too():
    lines = printed([{"total": Decimal("7.50")}, {"total": Decimal("1200.00")}], columns={"total": "decimal(10,2)"})
    assert lines[1:] == ["    total", "     7.50", "  1200.00"]


def test_there_are_more_rows_than_are_shown():
    assert [len(printed(ROWS, 1)), printed(ROWS, 1)[-1].split(":")[0].strip()] == [4, "and more"]


def test_there_is_no_row():
    assert printed([])[1:] == ["  no row"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        ("2026-01-05T09:01:00.500000Z", "2026-01-05 09:01:00.5"),
        ("2026-01-05", "2026-01-05"),
        ("a\nb\x1b[0m", "a\\nb\\x1b[0m"),
        ([1, None], "[1, null]"),
        ({"é": 1}, '{"é": 1}'),
        (Decimal("1234567890123456.78"), "1234567890123456.78"),
        (Decimal("0E-18"), "0.000000000000000000"),
        ({"total": [Decimal("12.50")]}, '{"total": [12.50]}'),
        ("x" * 50, "x" * 43 + "…"),
    ],
)
def test_a_value(value, shown):
    assert cell(value) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1_234_567, "1.2 MB"), (5_000_000_000_000_000, "5000.0 TB")]
)
def test_bytes(count, shown):
    assert size_of(count) == shown
