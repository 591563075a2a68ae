"""Why a record was rejected: the sentence in its row is for people, the code of the sentence is for programs.

A rejected row has no column for the code. Such a column would change the schema of every table and topic that users keep rejected rows in. So
each sentence is built here, and its code is read from the sentence here. No other module looks at the words of a reason.
"""

import re
from collections.abc import Collection
from enum import StrEnum


class Rejection(StrEnum):
    """What a reason is about."""

    NO_TIME = "no-event-time"
    TIME_NOT_READABLE = "event-time-not-readable"
    TIME_IN_FUTURE = "event-time-in-the-future"
    CONDITION = "condition-not-met"
    RECORD = "record-not-readable"


_NULL = " (is null)"
_OF_TIME = {
    Rejection.NO_TIME: "no event time in {}",
    Rejection.TIME_NOT_READABLE: "event time in {} not readable",
    Rejection.TIME_IN_FUTURE: "event time more than {} in the future",
}
_PATTERNS = {code: re.compile(re.escape(sentence).replace(r"\{\}", ".+"), re.DOTALL) for code, sentence in _OF_TIME.items()}


def no_time(column: str) -> str:
    """The reason of a record without an event time."""
    return _OF_TIME[Rejection.NO_TIME].format(column)


def time_not_readable(column: str) -> str:
    """The reason of a record whose event time cannot be read."""
    return _OF_TIME[Rejection.TIME_NOT_READABLE].format(column)


def time_in_future(limit: str) -> str:
    """The reason of a record that is further in the future than `limit`, a duration as people write it ("5 minutes")."""
    return _OF_TIME[Rejection.TIME_IN_FUTURE].format(limit)


def code_of(reason: str, conditions: Collection[str]) -> Rejection:
    """The code of a reason.

    Parameters
    ----------
    conditions
        What rows must fulfil, as the job has written it. A job can name a condition as it likes, also like a sentence of ours, so
        conditions are asked first.

    Everything that is neither a condition nor about the event time is said of a record that could not be read: by a parser, or from the path
    of its file.
    """
    if reason in conditions or reason.removesuffix(_NULL) in conditions:
        return Rejection.CONDITION
    return next((code for code, pattern in _PATTERNS.items() if pattern.fullmatch(reason)), Rejection.RECORD)
