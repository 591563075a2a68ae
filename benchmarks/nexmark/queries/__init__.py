"""The queries of Nexmark: those that are said, in a file each, and those that are not, with the reason."""

from collections.abc import Mapping

from benchmarks.nexmark.queries import (
    q0,
    q1,
    q2,
    q3,
    q4,
    q5,
    q6,
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
    for module in (q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22)
}
NOT_SAID: Mapping[str, NotSaid] = {
    query.name: query
    for query in (
        NotSaid(
            "q12",
            "Processing time windows: how many bids a bidder makes in ten seconds of the clock.",
            "Windows go by event time, and no column of a bid says when it was taken. Spark keeps the clock of a batch in its offset log, so that a batch "
            "which is done again would give the same rows. But two runs have two clocks, so nobody could say which rows are right. It would take the "
            "time of arrival as event time, such as the one that a broker writes to a record; the files of this comparison have none.",
        ),
    )
}
