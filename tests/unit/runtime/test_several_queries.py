"""Several main outputs over one source are queries of their own: that is said, with its price (K7, R14)."""

from datetime import timedelta
from types import SimpleNamespace

from streamproof.runtime.binding.several_queries import prices


def root(source="trades", *, stateful=True):
    return SimpleNamespace(sources=(source,), stateful=stateful, allowed_lateness=timedelta())


def test_queries_over_one_source_read_it_again_and_can_disagree_about_what_is_late():
    assert list(prices({"exposure": root(), "totals": root(), "counts": root()})) == [
        "exposure, totals and counts are queries of their own: each reads trades again, with a watermark of its own, so that they can "
        "disagree about what is late. Rows that are to go to several places take one query: an output may have several sinks, such as "
        "[sink.exposure.postgres] and [sink.exposure.kafka]."
    ]


def test_where_one_of_them_at_most_has_late_rows_they_cannot_disagree():
    (note,) = prices({"exposure": root(), "kept": root(stateful=False)})

    assert "exposure and kept are queries of their own: each reads trades again. Rows" in note


def test_queries_over_sources_of_their_own_share_nothing():
    assert list(prices({"exposure": root(), "rates": root("rates")})) == []
