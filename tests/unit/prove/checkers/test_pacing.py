"""A service that is in trouble is not asked ever more."""

from dataclasses import replace

from streamproof.core.verdict import Verdict
from streamproof.prove.checkers import registry, run_checker
from streamproof.prove.checkers.pacing import TRIES
from unit.prove.small import only_finding


def test_a_call_that_is_made_again_and_again_is_found(once):
    finding = only_finding("pacing", replace(once, tries={"/s1/calls p-000007": 412, "/s1/calls p-000008": TRIES}))

    assert "the call p-000007 was made 412 times" in finding.what
    assert finding.expected == "at most 30 tries, with pauses that grow"


def test_calls_with_pauses_pass(once):
    paced = replace(once, tries={"/s1/calls p-000007": 6})

    assert run_checker("pacing", registry()["pacing"], paced).verdict is Verdict.PASS
