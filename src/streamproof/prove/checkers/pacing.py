"""A call that fails is tried again after a pause, and each pause is longer than the one before."""

from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History
from streamproof.prove.checkers import Finding, checker

TRIES = 30
"""So often a call may be tried in a scenario: pauses that begin at 0.2 seconds and double are past the longest outage of a proof with
fewer, over several starts too; without pauses it is hundreds a second."""


class Code(StrEnum):
    """What is found here."""

    TRIED_WITHOUT_PAUSE = "tried-without-pause"


@checker("pacing")
def pacing(history: History) -> Iterator[Finding]:
    """Look for calls that an API was asked to do again and again without a pause."""
    for call, times in sorted(history.tries.items(), key=lambda entry: -entry[1]):
        if times > TRIES:
            key = call.rpartition(" ")[2]
            what = f"the call {key} was made {times:,} times: whoever tries again without a pause keeps a service down that is in trouble"
            expected, found = f"at most {TRIES} tries, with pauses that grow", f"{times:,} tries"
            yield Finding(Code.TRIED_WITHOUT_PAUSE, None, what, None, expected, found, None, key)
