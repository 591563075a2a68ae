"""A query as the oracle knows it: the tree of twins of what the user asked for, and what the events of its sources go by."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from streamproof.prove.oracle.asked import Asked, AskedTime
from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.operators import leaf, twin_of
from streamproof.prove.oracle.operators.twin import Grouped, Pairs, Twin


@dataclass(frozen=True, slots=True)
class Clock:
    """Of a source the delay of its watermark, how far its events may lie in the future, and how long it may be quiet until the watermark of
    several goes on without it, microseconds; and the column of its event time.
    """

    delay_us: int
    max_future_us: int | None = None
    idle_after_us: int | None = None
    column: str | None = None


@dataclass(frozen=True)
class Way:
    """The way of a source's records to the output.

    Parameters
    ----------
    steps
        What they go through one by one, in front of the first operator that keeps state.
    keeping
        The operators that keep state, the first one first.
    """

    source: str
    steps: tuple[Twin, ...]
    keeping: tuple[Twin, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of records that operators with state look at; what stands behind windows looks at rows of these."""
        last = next((number for number, twin in enumerate(self.keeping) if twin.grouped is not None), len(self.keeping))
        return tuple(name for twin in self.keeping[: last + 1] for name in twin.columns)

    def refuses(self, values: Mapping[str, object]) -> str | None:
        """Why a row with these values may not come to an operator with state; None where it may."""
        reasons = (twin.refuses(values) for twin in self.keeping)
        return next((reason for reason in reasons if reason is not None), None)


@dataclass(frozen=True, eq=False)
class Node:
    """A twin and what it takes: no input (a source), one, or two. Nodes are compared by identity: streams that share one have it once."""

    twin: Twin
    inputs: "tuple[Node, ...]" = ()
    source: str = ""

    def walk(self) -> "Iterator[Node]":
        """Every node once, the inputs of a node before it."""
        seen: set[Node] = set()
        yield from self._walked(seen)

    def _walked(self, seen: "set[Node]") -> "Iterator[Node]":
        for node in self.inputs:
            yield from node._walked(seen)
        if self not in seen:
            seen.add(self)
            yield self

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every reason by which an operator rejects a row."""
        return tuple(reason for node in self.walk() for reason in node.twin.reasons)

    def ways(self, steps: tuple[Twin, ...] = (), keeping: tuple[Twin, ...] = ()) -> Iterator[Way]:
        """The ways from the sources below, in the order in which Spark numbers these; `steps` and `keeping` stand behind this node."""
        if self.source:
            yield Way(self.source, steps, keeping)
        behind = ((), (self.twin, *keeping)) if self.twin.keeps else ((self.twin, *steps), keeping)
        for node in self.inputs:
            yield from node.ways(*behind)


@dataclass(frozen=True, eq=False)
class Query:
    """What the user asked for in one main output.

    Parameters
    ----------
    name
        The name of the output.
    clocks
        By source what its events go by; a query with one source has it under an empty name.
    event_time_column
        The column the watermark is taken from; None if the first source has no event time.
    """

    name: str
    root: Node
    clocks: Mapping[str, Clock]
    event_time_column: str | None = None

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node once, the inputs of a node before it."""
        return tuple(self.root.walk())

    @cached_property
    def keeping(self) -> tuple[Node, ...]:
        """The nodes that keep state, the inputs of one before it."""
        return tuple(node for node in self.nodes if node.twin.keeps)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The tables that rows are looked up in, or that state begins with."""
        return tuple(sorted({name for node in self.nodes for name in node.twin.tables}))

    @property
    def stateful(self) -> bool:
        return bool(self.keeping)

    @cached_property
    def output(self) -> Node:
        """The node whose rows come out, perhaps through operators that look at each by itself."""
        node = self.root
        while not node.twin.keeps and len(node.inputs) == 1:
            (node,) = node.inputs
        return node if node.twin.keeps else self.root

    @cached_property
    def behind(self) -> tuple[Twin, ...]:
        """What the rows of the last operator with state go through; nothing where none keeps state."""
        found: list[Twin] = []
        node = self.root
        while node is not self.output:
            found.insert(0, node.twin)
            (node,) = node.inputs
        return tuple(found)

    @cached_property
    def grouped(self) -> Grouped | None:
        """What the rows that come out are of; None where they are rows as they came."""
        return self.output.twin.grouped

    @cached_property
    def pairs(self) -> Pairs | None:
        """What the rows that come out are made of, where they are of two inputs; of windows that stand after a join, what these hold."""
        return next((node.twin.pairs for node in self.keeping if node.twin.pairs is not None), None)

    @cached_property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """The sources, each with those whose rows it is put together with before anything keeps state; these have the same columns."""
        first = [below for node in self.keeping for below in node.inputs if not any(one.twin.keeps for one in below.walk())]
        return tuple(tuple(one.source for one in below.walk() if one.source) for below in first) or (self.sources,)

    @cached_property
    def groupings(self) -> tuple[Grouped, ...]:
        """All windows that rows are put into, each made of those before it."""
        return tuple(grouped for node in self.keeping if (grouped := node.twin.grouped) is not None)

    @property
    def revised(self) -> bool:
        """Whether a window can give several rows."""
        return self.grouped is not None and self.grouped.revised

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """The way of each source's records, in the order in which Spark numbers sources."""
        return tuple(self.root.ways())

    @cached_property
    def sources(self) -> tuple[str, ...]:
        return tuple(way.source for way in self.ways)

    def way_of(self, source: str) -> Way:
        """The way of the records of a source; of the only one, where there is one only."""
        return next((way for way in self.ways if way.source == source), self.ways[0])

    def decides(self, source: str = "") -> Twin | None:
        """The operator that says which records of a source are late: the first with state on their way (R10)."""
        return next(iter(self.way_of(source).keeping), None)

    @cached_property
    def delay_us(self) -> int:
        """How far the watermark is behind the newest event: the longest lag + allowed lateness, microseconds."""
        return max(clock.delay_us for clock in self.clocks.values())

    def clock_of(self, source: str) -> Clock:
        """What the events of a source go by."""
        return self.clocks[source] if source in self.clocks else next(iter(self.clocks.values()))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of records that operators with state look at, beside the event time."""
        return tuple(dict.fromkeys(name for way in self.ways for name in way.columns))

    @property
    def several(self) -> bool:
        """Whether it has several sources."""
        return len(self.clocks) > 1

    @property
    def lateness_us(self) -> int:
        """How much longer than the lag of a source rows are taken, microseconds."""
        return max((node.twin.lateness_us for node in self.keeping), default=0)

    @property
    def once(self) -> frozenset[str]:
        """The columns by which rows are copies, of which one goes on."""
        return frozenset(name for node in self.keeping for name in node.twin.once)

    @property
    def any_stays(self) -> bool:
        """Whether it is not promised which of several copies goes on."""
        return any(node.twin.any_stays for node in self.keeping)


def query_asked(name: str, asked: Asked, time: AskedTime | None, others: Mapping[str, AskedTime | None] | None = None) -> Query:
    """A query, from the user's calls and file.

    Parameters
    ----------
    time
        The event time of the source; of several that of the first one.
    others
        Of a query with several sources those of all of them.

    Raises
    ------
    ValueError
        If a duration cannot be read.
    """
    root = twins_of(asked)
    lateness_us = max((node.twin.lateness_us for node in root.walk()), default=0)
    clocks = {source: _clock(one, lateness_us) for source, one in (others or {"": time}).items()}
    return Query(name, root, clocks, time.column if time else None)


def twins_of(asked: Asked) -> Node:
    """The tree of twins of what was asked for; streams that share one have its node once.

    Raises
    ------
    ValueError
        If a duration cannot be read.
    """
    made: dict[Asked, Node] = {}
    for one in asked.walk():
        twin = leaf() if one.call is None else twin_of(one.call.method, one.call.given)
        made[one] = Node(twin, tuple(made[taken] for taken in one.inputs), one.source)
    return made[asked]


def _clock(time: AskedTime | None, lateness_us: int) -> Clock:
    """What the events of a source go by."""
    if time is None:
        return Clock(lateness_us)
    return Clock(micros(time.lag) + lateness_us, _optional(time.max_future), _optional(time.idle_after), time.column)


def _optional(written: str | timedelta | None) -> int | None:
    return None if written is None else micros(written)
