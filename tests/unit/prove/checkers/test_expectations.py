"""What the scenario expects of the job."""

from dataclasses import replace

import pytest

from streamproof.prove.scenario.scenario import Expect
from unit.prove.small import ONCE, RECORDS, SECOND, faultless, only_finding


@pytest.mark.parametrize(
    ("expect", "what"),
    [
        (Expect(late_at_most=0.1), "18.18% of the input of totals is late; the scenario allows 10.00%"),
        (Expect(rejected_at_most=0.01), "9.09% of the input of totals is rejected"),
        (Expect(open_at_most=0.1), "18.18% of the input of totals is open at the end"),
    ],
)
def test_more_than_the_scenario_allows_is_found(expect, what):
    assert what in only_finding("expectations", faultless(ONCE, RECORDS, no_data=1, expect=expect)).what


def test_a_job_that_goes_by_another_time_is_found(once):
    events = {**once.events, "e-2": replace(once.events["e-2"], time_us=5 * SECOND)}
    history = replace(once, offered=replace(once.offered, events=events), expectations=Expect(results_by="event time"))

    finding = only_finding("expectations", history)

    assert (finding.event, finding.what) == ("e-2", "is placed by another time than it happened")
    assert (finding.expected, finding.found) == ("1970-01-01 00:00:05Z", "1970-01-01 00:01:02Z")
