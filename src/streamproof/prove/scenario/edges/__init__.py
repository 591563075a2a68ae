"""Events at the edges, in every scenario unless it says otherwise: where a rule that is off by one tick shows.

They stand in the place of ordinary events, so that number, batches and files stay what the scenario says, and so do the newest events of each
batch: the watermark moves as it would without them. Every query of a source has edges of its own, and the sources of a union those of its
bound; one source of a join has partners for events of the other. Around `max_future` there are none: that limit moves with the wall clock, and
events are the same bytes for every proof (`future_limit` asks the job's reading with a clock that stands still).
"""

from collections.abc import Sequence
from dataclasses import replace

from streamproof.prove.scenario.edges.board import Around, Board, as_texts, newest_of
from streamproof.prove.scenario.edges.copies import copy_in_a_later_batch, rivals
from streamproof.prove.scenario.edges.joins import partners
from streamproof.prove.scenario.edges.lateness import given_rows, horizon, late_bound, late_bounds
from streamproof.prove.scenario.edges.values import missing_time, nested, nulls, two_records
from streamproof.prove.scenario.edges.windows import gaps, window_edges
from streamproof.prove.scenario.generate import Event, Kind, record_of
from streamproof.prove.scenario.scenario import IdColumn, SourceScenario

__all__ = ["Around", "late_bounds", "never_sent", "newest_of", "with_edges"]

_EDGES = (
    late_bound,
    horizon,
    copy_in_a_later_batch,
    rivals,
    gaps,
    window_edges,
    partners,
    given_rows,
    nulls,
    two_records,
    nested,
    missing_time,
)
"""In this order, until a tenth of the events are edges."""


def with_edges(events: Sequence[Event], around: Around) -> list[Event]:
    """The events with some ordinary ones replaced by edges; the same events give the same edges."""
    board = Board(list(events), around)
    for put in _EDGES:
        put(board)
    return board.events


def never_sent(events: Sequence[Event], plan: SourceScenario) -> list[Event]:
    """Two events beside the others, with ids and traces of their own: for a transaction that is aborted (R9), one for each partition."""
    made: list[Event] = []
    for event in [event for event in events if event.kind is Kind.OK][:2]:
        own = {name: f"{event.values[name]}-aborted" for name, column in plan.columns.items() if isinstance(column, IdColumn)}
        values, trace = {**event.values, **own}, f"{event.trace}-aborted"
        record = record_of(trace, as_texts(values))
        made.append(replace(event, trace=trace, values=values, record=record, partition=len(made)))
    return made
