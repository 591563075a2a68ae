"""What two runs published sums up alike, the order in which floats are added aside."""

from streamproof.prove.artifacts.comparing import PublishedRows, rows_published
from unit.prove.small import RECORDS, WINDOW, changed, faultless, rows_of, with_rows


def test_what_two_runs_published_is_told_apart_by_more_than_the_order_of_floats() -> None:
    history = faultless(WINDOW, RECORDS, no_data=1)
    rows = rows_of(history, "totals")
    assert rows

    def moved(by: float) -> PublishedRows:
        return rows_published(with_rows(history, "totals", [changed(rows[0], total=rows[0].values["total"] + by), *rows[1:]]))

    assert rows_published(history).agrees_with(moved(1e-12))
    assert not rows_published(history).agrees_with(moved(1e-6))
    assert not rows_published(history).agrees_with(rows_published(with_rows(history, "totals", rows[1:])))
    assert not rows_published(history).agrees_with(
        rows_published(with_rows(history, "totals", [changed(rows[0], client="another"), *rows[1:]]))
    )
    assert not rows_published(history).agrees_with(PublishedRows())
