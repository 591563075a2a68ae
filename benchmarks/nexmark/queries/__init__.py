"""The queries of Nexmark: those that are said, in a file each, and those that are not, with the reason."""

from collections.abc import Mapping

from benchmarks.nexmark.queries import (
    q0,
    q1,
    q2,
    q3,
    q5,
    q7,
    q8,
    q9,
    q10,
    q11,
    q13,
    q14,
    q15,
    q16,
    q17,
    q18,
    q19,
    q20,
    q21,
    q22,
)
from benchmarks.nexmark.query import NotSaid, Query

QUERIES: Mapping[str, Query] = {
    module.QUERY.name: module.QUERY
    for module in (q0, q1, q2, q3, q5, q7, q8, q9, q10, q11, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22)
}
NOT_SAID: Mapping[str, NotSaid] = {
    query.name: query
    for query in (
        NotSaid(
            "q4",
            "Average price for a category: of the winning bids.",
            "An average stands after the winning bids of q9, and nothing stands after declared state. A window may stand after a join, but none is that of an "
            "auction, which ends at an instant of its own. By hand Spark takes two aggregations after each other only where both go by event time.",
        ),
        NotSaid(
            "q6",
            "Average selling price by seller: of the last ten auctions.",
            "As q4: the last ten of each seller stand after the winning bids. Flink does not say it either.",
        ),
        NotSaid(
            "q12",
            "Processing time windows: how many bids a bidder makes in ten seconds of the clock.",
            "Windows go by event time. By the clock of processing a batch that is done again would give other rows.",
        ),
    )
}
