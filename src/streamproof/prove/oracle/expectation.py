"""What the model says a run must have left behind."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from streamproof.core.account import Account
from streamproof.prove.oracle.arrived import BatchRead
from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.oracle.trace import Vector

WindowKey = tuple[tuple[Any, ...], int]
"""The values of the key columns, and the window's start in microseconds UTC."""

RowKey = tuple[WindowKey, int]
"""A window, and the number of one of its rows: 0 where it gives one only."""


@dataclass(frozen=True, slots=True)
class WindowContents:
    """The events in a window: how many, the sum of their hashes, and their traces in the order they came; and its end, microseconds UTC.

    Of a window behind another `parts` are the windows of that one that went into it.
    """

    count: int
    hash: int
    traces: tuple[str, ...]
    end_us: int
    parts: "tuple[tuple[WindowKey, WindowContents], ...]" = ()

    @property
    def vector(self) -> Vector:
        return Vector(self.count, self.hash)


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What one batch does.

    Parameters
    ----------
    read
        The batch as its logs say.
    bound_us
        The late bound (R10): the watermark of the batch before.
    predicted_ms
        The watermark that the model predicts for this batch.
    traces, late, rejected, filtered, unknown
        The records it read, and those of them that leave by each way; `unknown` are lost by a plain transform. Where windows overlap a
        record is late once for each window that it comes too late for.
    late_ends
        Of the late ones where windows overlap the end of the window, microseconds UTC.
    expanded
        Where windows overlap, a trace for each further window that a record lies in.
    future
        Of the rejected those that only the clock of the batch takes for future ones.
    duplicates
        Event ids, once for each copy that is dropped: which copy stays is not promised.
    kept
        Traces behind lateness and deduplication; with a deduplication the copy that the model keeps.
    emitted
        Windows that this batch emits, with what they hold then.
    revisions
        Of each of them the number of its row, from 0 on.
    newly_emitted
        How many (record, window) pairs no row had before this batch.
    """

    read: BatchRead
    bound_us: int
    predicted_ms: int
    traces: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    filtered: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    future: tuple[str, ...] = ()
    late_ends: tuple[int, ...] = ()
    expanded: tuple[str, ...] = ()
    emitted: Mapping[WindowKey, WindowContents] = field(default_factory=dict)
    revisions: Mapping[WindowKey, int] = field(default_factory=dict)
    newly_emitted: int = 0

    @property
    def batch(self) -> int:
        return self.read.batch


@dataclass(frozen=True)
class Expectation:
    """What all batches together must have led to.

    Parameters
    ----------
    batches
        One outcome per batch in order; a batch without effects has an empty one.
    open, open_before
        Windows still in state after the last batch, emitted or not; and those that the former are made of, where they stand behind others.
    remembered
        Keys of the deduplication with their expiry, microseconds UTC.
    ambiguous
        Keys of the deduplication that different events share within one batch: which of them stays is not promised, and the
        model cannot tell.
    """

    shape: QueryShape
    batches: tuple[BatchOutcome, ...]
    open: Mapping[WindowKey, WindowContents]
    remembered: Mapping[tuple[Any, ...], int]
    ambiguous: tuple[tuple[Any, ...], ...] = ()
    open_before: Mapping[WindowKey, WindowContents] = field(default_factory=dict)

    @cached_property
    def by_batch(self) -> Mapping[int, BatchOutcome]:
        return {outcome.batch: outcome for outcome in self.batches}

    @cached_property
    def emitted(self) -> Mapping[WindowKey, WindowContents]:
        """All windows that have given a row, over all batches, with what they held in the last one."""
        return {key: contents for outcome in self.batches for key, contents in outcome.emitted.items()}

    @cached_property
    def rows(self) -> Mapping[RowKey, WindowContents]:
        """Every row that windows have given, by window and revision."""
        return {(key, outcome.revisions[key]): contents for outcome in self.batches for key, contents in outcome.emitted.items()}

    @cached_property
    def last_rows(self) -> Mapping[WindowKey, int]:
        """The number of the last row of every window that has given one."""
        return {key: revision for outcome in self.batches for key, revision in outcome.revisions.items()}

    @cached_property
    def survivors(self) -> tuple[str, ...]:
        """Traces in emitted rows: what the batch query and the hand-written model are given."""
        if self.shape.window is None:
            return tuple(trace for outcome in self.batches for trace in outcome.kept)
        return tuple(trace for contents in self.emitted.values() for trace in contents.traces)

    @cached_property
    def places(self) -> Mapping[str, Vector]:
        """The account as vectors: emitted, open_state, late, rejected, duplicate, filtered, and input, expanded and unknown besides."""
        return {
            "input": Vector.of(trace for outcome in self.batches for trace in outcome.traces),
            "expanded": Vector.of(trace for outcome in self.batches for trace in outcome.expanded),
            "emitted": Vector.of(self.survivors),
            "open_state": Vector.of(self._held),
            "late": Vector.of(trace for outcome in self.batches for trace in outcome.late),
            "rejected": Vector.of(trace for outcome in self.batches for trace in outcome.rejected),
            "duplicate": Vector.of(trace for outcome in self.batches for trace in outcome.duplicates),
            "filtered": Vector.of(trace for outcome in self.batches for trace in outcome.filtered),
            "unknown": Vector.of(trace for outcome in self.batches for trace in outcome.unknown),
        }

    @property
    def _held(self) -> Iterator[str]:
        """The traces in windows that are in state, and have given no row yet."""
        waiting = [contents for key, contents in self.open.items() if key not in self.emitted]
        return (trace for contents in (*waiting, *self.open_before.values()) for trace in contents.traces)

    @cached_property
    def account(self) -> Account:
        return Account.of({place: vector.count for place, vector in self.places.items()})

    @cached_property
    def fates(self) -> Mapping[str, tuple[str, int]]:
        """Where each record is, and the batch that read it; the dropped copies of an event are named as the model drops them."""
        found: dict[str, tuple[str, int]] = {}
        inside_open = set(self._held)
        for outcome in self.batches:
            found |= dict.fromkeys(outcome.traces, ("duplicate", outcome.batch))
            found |= {trace: ("open_state", outcome.batch) for trace in outcome.traces if trace in inside_open}
            read = {
                trace: found.get(trace, ("", outcome.batch))[1] for trace in outcome.kept
            }  # by an order a row is kept in a later batch
            found |= {trace: ("open_state" if trace in inside_open else "emitted", batch) for trace, batch in read.items()}
            for place in ("late", "rejected", "filtered", "unknown"):
                found |= dict.fromkeys(getattr(outcome, place), (place, outcome.batch))
        return found
