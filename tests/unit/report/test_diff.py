"""How a comparison is told: in the terminal and as a page, from its data alone."""

import io
from decimal import Decimal

import pytest
from rich.console import Console

from streamproof.replay.diff.result import Apart, Column, ColumnDifference, Counts, Diff, Kind, OutputDiff, ShownRow, Sum, plain
from streamproof.report.diff import amount, page, print_diff, row_in_words, sentence, signed

OUTPUT = OutputDiff(
    name="exposure",
    places=("out/exposure", "out-2/exposure"),
    key=("client",),
    columns=("client", "total", "n"),
    counts=Counts((100, 101), same=90, only_a=1, only_b=2, different=9, several=(0, 3)),
    apart=(Column("note", Apart.OTHER_TYPES, ("string", "int")), Column("extra", Apart.ONLY_B, ("", "date"))),
    by_column=(ColumnDifference("total", 9, 0.5), ColumnDifference("client", 1, None)),
    sums=(Sum("total", 1234.5, 1300.25), Sum("n", Decimal(10), Decimal(9)), Sum("big", None, Decimal(1))),
    shown=(
        ShownRow(Kind.DIFFERENT, {"client": "<b>c1"}, {"total": Decimal("1.5"), "n": None}, {"total": Decimal("1.25"), "n": 4}),
        ShownRow(Kind.ONLY_A, {"client": "c\x1b[2J"}, {"total": Decimal(7), "n": 1}, {}),
        ShownRow(Kind.ONLY_B, {"client": "c3"}, {}, {"total": None, "n": 1}),
    ),
    notes=("1 batch has no ledger in A (out/exposure): not published, and left out.",),
)
SAME = OutputDiff("", ("a", "b"), (), ("x",), Counts((3, 3), 3, 0, 0, 0, (0, 0)), (), (), (), ())


def printed(diff: Diff) -> list[str]:
    out = io.StringIO()
    print_diff(diff, Console(file=out, width=300, highlight=False))
    return out.getvalue().splitlines()


def test_the_verdict_stands_first_and_everything_that_differs_below():
    lines = printed(Diff("one", "two", 1e-9, (OUTPUT,), only_b=("late",)))

    assert lines[0] == "DIFFERENT  9 rows differ, 1 only in A, 2 only in B, 2 columns not in both, 1 output on one side only"
    text = "\n".join(lines)
    assert "rows          A 100 · B 101 · equal 90" in text
    assert "different     9: total in 9 (by 0.5 at most) · client in 1" in text
    assert "several rows  of a key: A 0 keys · B 3 keys" in text
    assert "column        note: other types (string and int), not compared" in text
    assert "column        extra: only in B (date), not compared" in text
    assert "different     client=<b>c1   total 1.5 → 1.25 (-0.25) · n null → 4" in text
    assert "and 8 more" in text
    assert "only in A     client=c\\x1b[2J   total=7 n=1" in text
    assert "only in B     outputs late" in text


def test_sums_stand_below_each_other():
    lines = printed(Diff("one", "two", 0, (OUTPUT,)))

    start = next(place for place, line in enumerate(lines) if line.strip().startswith("sums"))
    assert [line.split() for line in lines[start : start + 4]] == [
        ["sums", "A", "B", "B", "-", "A"],
        ["total", "1,234.5", "1,300.25", "+65.75"],
        ["n", "10", "9", "-1"],
        ["big", "none", "1", "none"],
    ]
    assert len({len(line) for line in lines[start : start + 4]}) == 1


@pytest.mark.parametrize(
    ("tolerance", "said"),
    [
        (0, "3 rows on each side, none differs, to the last digit"),
        (1e-9, "3 rows on each side, none differs; numbers agree within 1e-09"),
    ],
)
def test_what_is_the_same_is_said_in_a_line(tolerance, said):
    diff = Diff("a", "b", tolerance, (SAME,))

    assert (diff.is_same, sentence(diff)) == (True, said)
    assert printed(diff)[0] == f"SAME  {said}"


def test_a_side_with_an_output_more_is_not_the_same():
    assert not Diff("a", "b", 0, (SAME,), only_a=("late",)).is_same


def test_the_page_has_the_same_and_escapes_what_comes_from_data():
    text = page(Diff("one", "two", 1e-9, (OUTPUT,), only_b=("late",)))

    assert "DIFFERENT" in text
    assert "&lt;b&gt;c1" in text
    assert "<b>c1" not in text
    assert "\x1b" not in text
    assert all(said in text for said in ("+65.75", "only in B (date), not compared", "Outputs only in B: late"))
    assert "SAME" in page(Diff("a", "b", 0, (SAME,)))


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1234.5, "1,234.5"),
        (3.0, "3"),
        (0.1 + 0.2, "0.3"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (Decimal("1E+3"), "1,000"),
        (None, "none"),
    ],
)
def test_numbers_are_said_with_their_thousands(number, said):
    assert amount(number) == said


def test_the_difference_of_floats_has_the_digits_that_count():
    row = ShownRow(Kind.DIFFERENT, {}, {"v": Decimal("0.08564916714362436")}, {"v": Decimal("1.0856491671436244")})

    assert row_in_words(row).endswith("→ 1.0856491671436244 (+1)")


def test_a_difference_has_its_sign():
    assert [signed(number) for number in (2.0, -2.0, 0.0)] == ["+2", "-2", "0"]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (Decimal("3"), 3),
        (Decimal("0.1"), 0.1),
        (Decimal("0.12345678901234567890"), "0.12345678901234567890"),
        (float("nan"), "nan"),
        ("x", "x"),
    ],
)
def test_values_are_kept_in_json_without_loss(value, found):
    assert plain(value) == found


def test_a_decimal_is_shown_without_the_zeros_of_the_wider_one_that_it_was_compared_as():
    row = ShownRow(
        Kind.DIFFERENT, {"k": Decimal("3.10")}, {"m": Decimal("3.104000000000000000")}, {"m": Decimal("3.100000000000000000")}
    )

    assert row_in_words(row) == "k=3.10   m 3.104 → 3.1 (-0.004)"
