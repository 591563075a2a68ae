"""The shape of what `report.json` has of the way to a cause: events and rows that are followed, the smallest scenario, the state at a crash."""

from typing import Any, Literal, NotRequired, TypedDict


class FollowedEvent(TypedDict):
    """One event that the report follows: its trace id, what people call it, the scenario that is looked at, whether a finding names it, where it
    is at the end, and its way in lines of (label, text).
    """

    trace: str
    called: str
    scenario: str
    named: bool
    ends: str
    lines: list[list[str]]


class FollowedRow(TypedDict):
    """One row of an output: its values in a line, whether anything contradicts the model, the first events that it is of by their trace ids, and
    the way back in lines of (label, text).
    """

    output: str
    scenario: str
    called: str
    wrong: bool
    made_of: list[str]
    lines: list[list[str]]


class Followed(TypedDict):
    """The events and rows that are told one by one, of so many; `masked` where values of rows are not kept, `problem` why there is none."""

    events: list[FollowedEvent]
    rows: list[FollowedRow]
    of_events: int
    of_rows: int
    masked: bool
    problem: NotRequired[str]


class SideEntry(TypedDict):
    """One side of a state: the batch after which it was so, null before the first commit; how many rows; why they cannot be shown, empty if they
    can.
    """

    batch: int | None
    rows: int
    unread: str


class StateRow(TypedDict):
    """A row of a state: what it is, its key, and the other values on either side, null where that has no such row; whether it is not as without a
    fault.
    """

    what: Literal["changed", "gone", "new", "same", "missing"]
    key: list[Any]
    crash: list[Any] | None
    after: list[Any] | None
    unsound: bool


class OperatorState(TypedDict):
    """The state of an operator on both sides: `word` says what it is, `row` what one row of it is, `key` and `values` are names of columns;
    `counts` says of each kind of row how many there are, `rows` has the first of each; `unsound` how many are not as without a fault after the same
    batch, null where that batch has other events there.
    """

    query: str
    operator: int
    word: str
    row: str
    key: list[str]
    values: list[str]
    crash: SideEntry
    after: SideEntry
    counts: dict[str, int]
    unsound: int | None
    rows: list[StateRow]


class StateEntry(TypedDict):
    """The state of a failing scenario as the crash has left it, and after the recovery.

    `recovered` says whether the job came back; `masked` that values of rows may not be shown; `problem` why there is nothing.
    """

    scenario: str
    recovered: bool
    masked: bool
    operators: list[OperatorState]
    problem: NotRequired[str]


class SizeEntry(TypedDict):
    """How large a scenario is."""

    events: int
    batches: int
    faults: int


class SmallestEvent(TypedDict):
    """One event of a smallest scenario: its batch, its source, its trace id, its bytes as text."""

    batch: int
    source: str
    trace: str
    record: str


class SmallestFinding(TypedDict):
    """What a smallest scenario fails with: in words, its checker and code, and the trace id of what it is about."""

    what: str
    code: str
    event: str | None


class SmallestUse(TypedDict):
    """What can be done with a smallest scenario: the command that runs it, a pytest test, and the files of the test and of the events."""

    replay: str
    test: str
    test_file: str
    events_file: str


class SmallestSearch(TypedDict):
    """How a smallest scenario was found: how many parts were tried, in how many seconds of wall time; `to_the_end` is false where the time was
    used up, `again` where it did not fail when it was run once more.
    """

    tries: int
    seconds: float
    to_the_end: bool
    again: bool


class SmallestEntry(TypedDict):
    """What `streamproof shrink` has made of a failing scenario.

    `scenario` is the one that was shrunk, `failed` the one that is left, `crash` its fault in words; `events` has at most the first 100; `story` is
    the way of the event of its finding through it, in lines of (label, text), empty where it is not known.
    """

    scenario: str
    failed: str
    crash: str
    finding: SmallestFinding
    whole: SizeEntry
    size: SizeEntry
    events: list[SmallestEvent]
    use: SmallestUse
    search: SmallestSearch
    story: list[list[str]]
