"""What a proof has not shown because nothing of the kind happened: an output without a row, a door that no record took (R29).

A checker that has nothing to look at passes. What was never exercised is therefore named, and leaves the verdict unknown unless the
scenario says that it may be so.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from streamproof.config.problems import did_you_mean
from streamproof.config.sources import EventTime
from streamproof.core.account import PLACES
from streamproof.core.durations import format_duration
from streamproof.core.sides import LATE, REJECTED, Side
from streamproof.errors import ScenarioError
from streamproof.prove.artifacts.history import History, QueryView
from streamproof.stream.node import Node
from streamproof.stream.operators.operator import Exercise as Asked
from streamproof.stream.outputs import Outputs


class Code(StrEnum):
    """What kind of thing did not happen."""

    OUTPUT = "output-without-row"
    LATE = "late-not-exercised"
    REJECTED = "rejected-not-exercised"
    FILTER = "filter-not-exercised"
    DUPLICATE = "duplicate-not-exercised"
    PLACE = "place-not-exercised"
    REVISION = "revision-not-exercised"
    OLDER_FACT = "older-fact-not-exercised"


@dataclass(frozen=True)
class Exercise:
    """One thing that a query of the job can do with a record.

    Parameters
    ----------
    query
        The main output.
    names
        What the scenario may call it; the first is how reports do.
    missing
        The sentence for a run in which it did not happen.
    remedy
        What to write in the scenario so that it happens.
    place
        The place of the account that a record must be in, where an operator names one.
    """

    code: Code
    query: str
    names: tuple[str, ...]
    missing: str
    remedy: str
    place: str = ""

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def says(self) -> str:
        return f"{self.missing} {self.remedy}; or let it be: [expect] may_be_unexercised = [{_quoted(self.name)}]"

    def as_dict(self) -> dict[str, str]:
        """As the report holds it."""
        return {"code": str(self.code), "name": self.name, "says": self.says}


def exercises(outputs: Outputs, event_times: Mapping[str, EventTime | None], versioned: Collection[str] = ()) -> list[Exercise]:
    """What a job can do with records, query by query; `event_times` by the name of each source, `versioned` the outputs whose table keeps
    the greatest version of a key.
    """
    found: list[Exercise] = []
    for query, root in outputs.main.items():
        found += _of_query(query, root, outputs.sides_of(query), event_times[root.sources[0]])
        if query in versioned:
            found.append(_of_facts(query, root.sources[0]))
    return found


def not_exercised(history: History, wanted: Sequence[Exercise]) -> list[Exercise]:
    """What did not happen in this run; what several queries call alike, once."""
    views = {view.name: view for view in history.queries}
    found: dict[tuple[Code, str], Exercise] = {}
    for one in wanted:
        if one.query in views and not _happened(views[one.query], one):
            found.setdefault((one.code, one.name), one)
    return list(found.values())


def is_allowed(one: Exercise, may_be: Sequence[str]) -> bool:
    """Whether the scenario says that this need not happen."""
    return any(name in may_be for name in one.names)


def require_known(may_be: Sequence[str], wanted: Sequence[Exercise]) -> None:
    """ScenarioError if the scenario lets something be unexercised that the job cannot do."""
    known = list(dict.fromkeys(name for one in wanted for name in one.names))
    for name in may_be:
        if name not in known:
            raise ScenarioError(
                f'[expect] may_be_unexercised names "{name}", which is nothing that this job does.{did_you_mean(name, known)}',
                required=f"It takes {', '.join(map(_quoted, known))}.",
            )


def _of_query(query: str, root: Node, sides: Mapping[Side, str], event_time: EventTime | None) -> Iterator[Exercise]:
    source, last = root.sources[0], root.last
    if last is not None and last.ends:
        missing, remedy = f"The output {query} has no row: {last.ends}.", f"Make the events span more time: [source.{source}] span"
    else:
        missing, remedy = f"The output {query} has no row.", f"Make records that come through: [source.{source}.columns]"
    yield Exercise(Code.OUTPUT, query, (query,), missing, remedy)
    if last is not None:
        delay = format_duration((event_time.lag if event_time else timedelta()) + root.allowed_lateness + last.waits)
        late = (
            f"Let some come late: [source.{source}.disorder] delayed = 0.02, delayed_by longer than {delay}, three batches or more"
        )
        yield Exercise(Code.LATE, query, _names(sides, LATE), f"No record came late to {query}.", late)
    required = any(operator.rejects for operator in root.operators)
    if required or event_time is not None:
        bad = "invalid = 0.01 and invalid_values" if required else "missing_time = 0.01"
        remedy = f"Make some that must be: [source.{source}.faults] {bad}"
        yield Exercise(Code.REJECTED, query, _names(sides, REJECTED), f"No record was rejected from {query}.", remedy)
    for operator in root.operators:
        for one in operator.exercises():
            said = one.missing.format(query=query), one.remedy.format(source=source)
            yield Exercise(Code(f"{one.called}-not-exercised"), query, _called(one, query, sides), *said, one.place)


def _called(one: Asked, query: str, sides: Mapping[Side, str]) -> tuple[str, ...]:
    """What a scenario may call it: by the output that such records leave by, or by a word."""
    if one.name:
        return (f"{one.place}.{one.name}",)
    if one.place in PLACES:
        return _names(sides, Side(one.place))
    return (f"{query}.{one.place}", one.place)


def _of_facts(query: str, source: str) -> Exercise:
    missing = f"No fact came to {query} behind a newer one of its key."
    remedy = f"Let some come late: [source.{source}.disorder] delayed = 0.05, and few keys"
    return Exercise(Code.OLDER_FACT, query, (f"{query}.older", "older"), missing, remedy)


def _names(sides: Mapping[Side, str], side: Side) -> tuple[str, ...]:
    """The name of the output that such records leave by, where there is one, and the word for them."""
    return tuple(dict.fromkeys((sides.get(side, str(side)), str(side))))


def _happened(view: QueryView, one: Exercise) -> bool:
    match one.code:
        case Code.OUTPUT:
            return bool(view.main.rows)
        case Code.FILTER:
            left_out = {f"filtered.{record.reason}" for record in view.arrived.values() if record.fate == "filtered"}
            return one.name in left_out
        case Code.REVISION:
            return any(view.model.last_rows.values())
        case Code.OLDER_FACT:
            return _has_older(view)
        case Code.DUPLICATE | Code.PLACE:
            return view.model.places[one.place].count > 0
        case Code.LATE | Code.REJECTED:
            kind = str(LATE if one.code is Code.LATE else REJECTED)
            # of a job that loses its trace ids the model does not know who was late
            return view.model.places[kind].count > 0 or any(side.rows for side in view.sides(kind))


def _has_older(view: QueryView) -> bool:
    """Whether a fact came in a later batch than one that counts more."""
    facts, rows, given = view.table.one_of_key, view.bounded.rows or {}, view.given_once
    if facts is None:
        return False
    newest = {key: min(given[name][1] for name in names) for key, names in view.stay.items()}
    return any(batch > newest.get(facts.key_of(rows[trace]), batch) for trace, batch in given.values() if trace in rows)


def _quoted(name: str) -> str:
    return f'"{name}"'
