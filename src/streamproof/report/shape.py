"""The shape of `report.json`: what is in it, in which units, and whether a given value has it."""

from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Required, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

from streamproof.report.shape_of_causes import Followed, SmallestEntry, StateEntry

VerdictWord = Literal["pass", "unknown", "fail"]
Plan = Literal["brief", "quick", "standard", "full", "part"]
Mode = Literal["image", "live", "fault-free"]


# Functional form: `pass` is a keyword.
Counts = TypedDict("Counts", {"pass": int, "fail": int, "unknown": int})


AccountCounts = dict[str, int]
"""Where the (input record, window) pairs of one run are, by place (`core/account.py`); `input` is how many there were.

`expanded` says how many of them are a record's second window or a further one, where windows overlap, or a joined row.
"""


class Conservation(TypedDict):
    """The account of the fault-free run and of the worst scenario: the one furthest from balance, else furthest from fault-free."""

    fault_free: AccountCounts
    worst: AccountCounts


class FindingEntry(TypedDict):
    """One thing a checker found: `code` for programs, `what` ("trade t-17 is counted twice") of which `event` (its trace id), both sides of
    the mismatch, how it came; `rounded` where the sides are so near that rounding alone may be the cause.
    """

    what: str
    event: str | None
    batch: int | None
    expected: str | None
    found: str | None
    how: str | None
    code: NotRequired[str]
    rounded: NotRequired[bool]


class CheckEntry(TypedDict):
    """One checker's verdict on one scenario; `findings` are the first of `total`."""

    name: str
    verdict: VerdictWord
    findings: list[FindingEntry]
    total: NotRequired[int]


class BatchEntry(TypedDict):
    """One batch as it was read from the disk after recovery; `watermark` is ISO 8601 in UTC, null while it is still 1970."""

    batch: int
    watermark: str | None
    rows: int
    files: int
    attempts: int


class ScenarioEntry(TypedDict):
    """One run of the job under one fault; `phase`, `batch` and `step` are null in a fault-free run; `seconds` is wall time."""

    id: str
    fault: str | None
    phase: str | None
    batch: int | None
    step: str | None
    mode: Mode
    fired: bool
    verdict: VerdictWord
    seconds: float
    checks: list[CheckEntry]
    replay: str
    crash: str
    account: AccountCounts | None
    batches: list[BatchEntry]
    read_on: str | None


class StepEntry(TypedDict):
    """One crash point that was enumerated, and the id of the scenario that proves its disk; null when none has."""

    id: str
    phase: str
    batch: int
    scenario: str | None


class RequestEntry(TypedDict):
    """What was asked for: the target as it was named, and of the options those that say which scenarios there are.

    `exactly` is the file of the events that were written out, empty where they were given in Python, null where a seed has made them. `services`
    are those that the job stands on.
    """

    target: str
    profile: str | None
    seed: int
    events: int | None
    batches: int | None
    exactly: str | None
    full: bool
    allow_hosts: list[str]
    services: NotRequired[list[str]]


class Environment(TypedDict):
    """Versions and place. Only these six are ever shown, so that nothing from a real environment slips into a page."""

    streamproof: str
    spark: str
    java: str
    python: str
    master: str
    os: str


class Recording(TypedDict):
    """The fault-free run that the plan was made from: its batches, wall time in seconds, durable steps."""

    batches: int
    seconds: float
    steps: int


class PointEntry(TypedDict):
    """One event of the picture: `arrival` counts from 0 over the whole run, `time_us` is event time in microseconds since 1970."""

    arrival: int
    time_us: int
    fate: str
    event: str
    batch: int


class WatermarkEntry(TypedDict):
    """The watermark from `arrival` on, until the next entry; microseconds since 1970, 0 while there is none."""

    arrival: int
    time_us: int
    batch: int


class WindowEntry(TypedDict):
    """One window, start inclusive and end exclusive, microseconds since 1970."""

    start_us: int
    end_us: int


class BatchStart(TypedDict):
    """The arrival number of the first event of a batch."""

    batch: int
    first_arrival: int


class EventTime(TypedDict):
    """What the event-time picture is drawn from: at most 3,000 points, every late one among them."""

    points: list[PointEntry]
    watermark: list[WatermarkEntry]
    windows: list[WindowEntry]
    batches: list[BatchStart]


class OutputEntry(TypedDict):
    """One output of the fault-free run: rows published, where, in which format, with which guarantee."""

    name: str
    rows: int
    where: str
    format: str
    guarantee: str


class RemarkEntry(TypedDict):
    """Something that the proof did not show: a code for programs, the name of what it is about, a sentence for people.

    Where the user has to give something, `add` is what the command needs besides, `sketch` the lines of a function to begin with.
    """

    code: str
    name: str
    says: str
    add: NotRequired[str]
    sketch: NotRequired[list[str]]


class Report(TypedDict):
    """One proof. `seconds` is wall time; `events` are generated input records; `noun` is what one of them is called ("trade").

    `end` is a `streamproof.core.ends.End`; `note_codes` has for each of the `notes` its code.
    """

    verdict: VerdictWord
    plan: Plan
    job: str
    title: str
    seed: int
    seconds: float
    events: int
    spark_batches: int
    counts: Counts
    enumerated: int
    distinct: int
    fired: int
    command: str
    notes: list[str]
    conservation: Conservation
    scenarios: list[ScenarioEntry]
    steps: list[StepEntry]
    environment: Environment
    recording: Recording
    event_time: EventTime
    outputs: list[OutputEntry]
    noun: NotRequired[str]
    request: NotRequired[RequestEntry]
    end: NotRequired[str]
    note_codes: NotRequired[list[str]]
    not_exercised: NotRequired[list[RemarkEntry]]
    not_compared: NotRequired[list[RemarkEntry]]
    judged_by: NotRequired[list[str]]
    not_checked: NotRequired[list[RemarkEntry]]
    followed: NotRequired[Followed]
    smallest: NotRequired[SmallestEntry]
    state: NotRequired[StateEntry]


def problems(value: object) -> list[str]:
    """What keeps `value` from being a Report, each as "scenarios[3].fired: required bool, found str"; at most 20, [] if nothing.

    Keys that this version does not know are no problem: a newer report may have more.
    """
    found: list[str] = []
    _compare(value, Report, "", found)
    return found[:20]


def _compare(value: object, wanted: Any, where: str, found: list[str]) -> None:
    if len(found) >= 20 or wanted is Any:
        return
    origin = get_origin(wanted)
    if is_typeddict(wanted):
        _compare_keys(value, wanted, where, found)
    elif origin in (NotRequired, Required):
        _compare(value, get_args(wanted)[0], where, found)
    elif origin is UnionType:
        _compare_union(value, get_args(wanted), where, found)
    elif origin is Literal:
        if value not in get_args(wanted):
            found.append(f"{where}: required one of {', '.join(map(str, get_args(wanted)))}, found {value!r}")
    elif origin in (list, dict):
        _compare_members(value, origin, get_args(wanted)[-1], where, found)
    elif not _is(value, wanted):
        found.append(f"{where}: required {wanted.__name__}, found {type(value).__name__}")


def _compare_keys(value: object, wanted: Any, where: str, found: list[str]) -> None:
    if not isinstance(value, dict):
        found.append(f"{where or 'the report'}: required an object, found {type(value).__name__}")
        return
    for key, kind in get_type_hints(wanted).items():
        inner = f"{where}.{key}" if where else key
        if key in value:
            _compare(value[key], kind, inner, found)
        elif key in wanted.__required_keys__:
            found.append(f"{inner}: missing")


def _compare_union(value: object, choices: tuple[Any, ...], where: str, found: list[str]) -> None:
    if value is None and NoneType in choices:
        return
    rest = [choice for choice in choices if choice is not NoneType]
    _compare(value, rest[0], where, found)


def _compare_members(value: object, origin: type, kind: Any, where: str, found: list[str]) -> None:
    if not isinstance(value, origin):
        found.append(f"{where}: required {origin.__name__}, found {type(value).__name__}")
    elif isinstance(value, dict):
        for key, member in value.items():
            _compare(member, kind, f"{where}.{key}", found)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            _compare(member, kind, f"{where}[{index}]", found)


def _is(value: object, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)
