"""How a run or a proof came to its end."""

from enum import StrEnum


class End(StrEnum):
    """A code for programs; what is said to people is made from it."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    FIRST_FAILURE = "first-failure"
    TIME_BUDGET = "time-budget"
    MAX_SCENARIOS = "max-scenarios"
    NOT_REPEATABLE = "not-repeatable"
