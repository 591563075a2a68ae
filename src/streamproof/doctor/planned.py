"""What Spark's analysed plan says of an operator that keeps state, for who has a plan in hand."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PlannedState:
    """State of a query that is never freed, by the plan of a run.

    Parameters
    ----------
    query
        Its name.
    what, remedy
        Whole sentences.
    certain
        Whether it grows with time or with events; else with the number of its keys, which only the author knows.
    """

    query: str
    what: str
    remedy: str
    certain: bool
