"""A query is a tree: its leaves are sources, its root is an output. Nobody who walks it asks which kind an operator is of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from streamproof.core.account import PLACES
from streamproof.core.opened import Opened
from streamproof.core.sides import DUPLICATE, LATE, Side
from streamproof.stream.looked_up import Use
from streamproof.stream.operators.operator import Operator, RowWise, Stateful

if TYPE_CHECKING:
    from streamproof.stream.emissions import Emission


@dataclass(frozen=True)
class Branch:
    """The way of a source's records to the output.

    Parameters
    ----------
    steps
        What they go through by themselves: the row-wise operators in front of the first one that keeps state, and what the operators behind
        require there, since what is rejected must have changed no state.
    behind
        The operators from the first one that keeps state on.
    """

    source: str
    steps: tuple[RowWise, ...] = ()
    behind: tuple[Operator, ...] = ()

    @property
    def keeps(self) -> Stateful | None:
        """The first operator on the way that keeps state; None where none does."""
        return next((operator for operator in self.behind if isinstance(operator, Stateful)), None)


@dataclass(frozen=True, eq=False)
class Node:
    """An operator and what it takes: no input (a source), one, or two. Nodes are compared by identity: streams that share one have it once.

    Parameters
    ----------
    source
        The name of the source that a leaf is; empty of other nodes.
    """

    operator: Operator
    inputs: "tuple[Node, ...]" = ()
    source: str = ""

    def then(self, operator: Operator, *others: "Node") -> "Node":
        """A node behind this one, and behind others where the operator takes several."""
        return Node(operator, (self, *others))

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
    def operators(self) -> tuple[Operator, ...]:
        """Those of all nodes, the inputs of a node before it."""
        return tuple(node.operator for node in self.walk())

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of all sources, in the order in which Spark numbers them."""
        return tuple(node.source for node in self.walk() if node.source)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The side outputs of all operators, in the order in which the account shows their places."""
        found = dict.fromkeys(side for operator in self.operators for side in operator.sides)
        if self.holds_rows:  # of a join late rows are those of either side, and nothing after it has any
            found.pop(LATE, None)
        places = list(PLACES)
        return tuple(sorted(found, key=lambda side: places.index(side.kind) if side.kind in PLACES else len(places)))

    @property
    def uses(self) -> tuple[Use, ...]:
        """What its operators take from tables, each once."""
        return tuple(dict.fromkeys(use for operator in self.operators for use in operator.uses))

    @property
    def keeping(self) -> tuple[Stateful, ...]:
        """The operators that keep state, the inputs of one before it."""
        return tuple(operator for operator in self.operators if isinstance(operator, Stateful))

    @property
    def stateful(self) -> bool:
        return bool(self.keeping)

    @property
    def last(self) -> Stateful | None:
        """The operator with state whose rows come out, perhaps through row-wise ones; None where nothing keeps state."""
        if isinstance(self.operator, Stateful):
            return self.operator
        return self.inputs[0].last if len(self.inputs) == 1 else None

    @property
    def open_are(self) -> Opened | None:
        """What is open in its state, as the end of a run says it: by the last operator that has records in there which have not come out."""
        return next((operator.open_are for operator in self.keeping[::-1] if operator.open_are is not None), None)

    @property
    def emission(self) -> "Emission":
        """When rows come out; a query without state gives each row once."""
        from streamproof.stream.emissions import Final

        return self.last.emission if self.last is not None else Final()

    @property
    def allowed_lateness(self) -> timedelta:
        return max((operator.allowed_lateness for operator in self.keeping), default=timedelta())

    @property
    def holds_rows(self) -> bool:
        """Whether rows are in state as they came, and leave it unseen: what has come out is told by how many are left there."""
        return any(operator.holds_rows for operator in self.keeping)

    @property
    def settings(self) -> Mapping[str, str]:
        """What Spark is told for the sake of its operators."""
        return {key: value for operator in self.keeping for key, value in operator.settings.items()}

    @property
    def passes_on(self) -> bool:
        """Whether rows that are in state as they came go on to another operator with state: each then counts once for each of its rows there."""
        return self.holds_rows and self.last is not None and not self.last.holds_rows

    @property
    def dropping(self) -> Stateful | None:
        """The operator of which Spark drops rows whose key it remembers."""
        return next((operator for operator in self.keeping if DUPLICATE in operator.sides), None)

    @property
    def known_to_leave(self) -> bool:
        """Whether there is an operator of whose state our state stores know what leaves next."""
        return any(operator.known_to_leave for operator in self.keeping)

    @property
    def sums(self) -> bool:
        """Whether values that come out depend on the order in which rows are added up."""
        return self.last is not None and self.last.sums

    def counted(self, *, rows: int, records: int) -> dict[str, int]:
        """Where the records of the rows of the output are, by place.

        Parameters
        ----------
        rows, records
            How many rows came out, and what their hidden counts of records add up to.
        """
        return {"emitted": rows} if self.last is None else self.last.counted(rows=rows, records=records)

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The way of each source's records, in the order in which Spark numbers sources."""
        return tuple(self._branches(Branch("")))

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """The sources, each with those whose rows it is put together with before anything keeps state; these have the same columns."""
        first = [
            below for node in self.walk() if isinstance(node.operator, Stateful) for below in node.inputs if not below.stateful
        ]
        return tuple(below.sources for below in first) or (self.sources,)

    def _branches(self, way: Branch) -> Iterator[Branch]:
        """The ways from the sources below this node; `way` is what stands behind it."""
        if self.source:
            required = (step for operator in way.behind if isinstance(operator, Stateful) for step in operator.requires())
            yield replace(way, source=self.source, steps=(*way.steps, *required))
        if isinstance(self.operator, Stateful):
            way = Branch("", (), (self.operator, *way.steps, *way.behind))
        if isinstance(self.operator, RowWise):
            way = replace(way, steps=(self.operator, *way.steps))
        for node in self.inputs:
            yield from node._branches(way)


def source(name: str) -> Node:
    """The leaf of a source."""
    from streamproof.stream.operators.source import Source

    return Node(Source(), source=name)
