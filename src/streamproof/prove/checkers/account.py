"""The account: its places, such as emitted, open and late, add up to the input, as numbers and as hashes (R15).

And what a run prints of it, from the totals of its manifests, is what the model says.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from streamproof.core.account import COUNTED, OF_A_BATCH, shown
from streamproof.prove.artifacts.history import History, OutputHistory, QueryView
from streamproof.prove.checkers import CannotTell, Finding, checker, require_decided, require_read
from streamproof.prove.checkers.naming import difference
from streamproof.prove.checkers.wording import others
from streamproof.prove.oracle.trace import Vector, is_further


class Code(StrEnum):
    """What is found here."""

    MANIFEST_MISSING = "manifest-missing"
    UNKNOWN_WITHOUT_LOSS = "unknown-without-loss"
    PRINTED_OTHERWISE = "printed-otherwise"
    IN_NO_PLACE = "in-no-place"
    IN_TWO_PLACES = "in-two-places"
    OTHER_EVENTS = "other-events"
    DOES_NOT_ADD_UP = "does-not-add-up"


@checker("account")
def account(history: History) -> Iterator[Finding]:
    """Add up what is found in each place, and compare with what was read."""
    for view in history.queries:
        require_decided(view)
        lost = [trace for outcome in view.batches for trace in outcome.left_by("unknown")]
        if lost:
            raise CannotTell(f"{lost[0]}{others(len(lost) - 1)} left {view.name} by a plain transform, which nothing counts.")
        yield from _printed(history, view)
        places = found_places(view)
        wanted = view.model.places["input"].plus(view.model.places["expanded"])
        off = _sum(places.values()).minus(wanted)
        if off == Vector():
            continue
        counts = {place: vector.count for place, vector in places.items()}
        found = f"{' + '.join(f'{place} {counts[place]:,}' for place in shown(counts))} = {_sum(places.values()).count:,}"
        further = view.model.places["expanded"].count
        expected = f"input {view.model.places['input'].count:,}" + (f" + further windows {further:,}" if further else "")
        yield _finding(history, view, off, expected, found)


def _printed(history: History, view: QueryView) -> Iterator[Finding]:
    """The totals of the newest manifest, which `streamproof run` prints; a sink of the job's own that keeps none prints none.

    A power failure can take a manifest, and with it what the totals stand on; those that come later say since when it is unknown.
    """
    manifests, batches = view.left.manifests, [outcome.batch for outcome in view.batches]
    missing = sorted(set(batches) - set(manifests))
    ours = bool(manifests) or any(output.ledgers for output in view.left.outputs.values())
    if not ours or not batches:
        return
    if missing and not history.power_failure:
        what = f"{view.name} has no manifest of a batch that it has published or committed"
        yield Finding(Code.MANIFEST_MISSING, None, what, missing[0])
        return
    newest = manifests.get(batches[-1])
    if newest is None:
        yield Finding(
            Code.MANIFEST_MISSING, None, f"{view.name} has no manifest of its newest batch: nothing says the account", batches[-1]
        )
        return
    if newest.unknown_since is not None and missing:
        return
    if newest.unknown_since is not None:
        what = f"{view.name} says that its account is unknown, and no manifest is lost"
        yield Finding(Code.UNKNOWN_WITHOUT_LOSS, None, what, newest.unknown_since)
        return
    for place in OF_A_BATCH:
        wanted, printed = view.model.places[place].count, newest.counts.get(f"total.{place}", 0)
        if printed != wanted:
            what = f"{view.name} prints another number of {place} records than there are"
            yield Finding(Code.PRINTED_OTHERWISE, None, what, batches[-1], f"{wanted:,}", f"{printed:,}")


def found_places(view: QueryView) -> Mapping[str, Vector]:
    """What lies in each place, as vectors.

    Emitted and what an output is there for, such as late and rejected, are what is published; open is what Spark's state reader found and no row
    holds. Records that leave no row behind are the model's: filtered ones, rows in whose place another one is, duplicates without an output.

    Raises
    ------
    CannotTell
        If the state of a query in which records wait was not read.
    """
    if any(node.twin.waits is not None or node.twin.pairs is not None for node in view.model.query.keeping):
        require_read(view)
    if view.model.query.output.twin.pairs is not None:
        emitted = Vector.of(_come_out(view))
    else:
        emitted = _sum(view.sums.values()) if view.windowed else _traces(view.main).plus(Vector.of(view.replaced))
    return {
        **{place: _aside(view, place) for place in COUNTED},
        "emitted": emitted,
        "open_state": _sum(_held(view)),
    }


def _come_out(view: QueryView) -> set[str]:
    """The records that are in a row of a join, and no longer in its state: a record may be in many rows."""
    held = {trace for _, _, state in view.states for trace in state.rows}
    return {trace for row in view.main.rows for trace in row.traces} - held


def _aside(view: QueryView, place: str) -> Vector:
    """What has left by the side outputs of a place: their rows, and of those that leave none the model's records."""
    outputs = view.sides(place)
    if not outputs:
        return view.model.places[place]
    delivered = {output.side.name for output in outputs}
    counted = [(outcome, name) for outcome in view.batches for name in outcome.names_of(place) - delivered]
    return _sum([*map(_traces, outputs), *(Vector.of(outcome.left_by(place, name)) for outcome, name in counted)])


def _held(view: QueryView) -> Iterator[Vector]:
    """What windows in state hold; where a window gives several rows, without those that have given one: its last row holds the same."""
    for node, _, state in view.states:
        revised = node.twin.grouped is not None and node.twin.grouped.revised
        given = view.model.given_by(node).items() if revised else ()
        shown = {(key[0], contents.end_us) for key, contents in given if key in view.windows}
        yield from (held for window, held in state.groups.items() if window not in shown)
        yield Vector.of(state.rows)


def _finding(history: History, view: QueryView, off: Vector, expected: str, found: str) -> Finding:
    read = [trace for outcome in view.batches for trace in outcome.traces]
    why = difference(off, read, history.offered.by_hash)
    if why is not None and why.lost and not why.added:
        what = f"is in no place of the account of {view.name}{others(len(why.lost) - 1)}"
        return Finding(Code.IN_NO_PLACE, why.lost[0], what, None, expected, found)
    if why is not None and why.added and not why.lost:
        what = f"is in two places of the account of {view.name}{others(len(why.added) - 1)}"
        return Finding(Code.IN_TWO_PLACES, why.added[0], what, None, expected, found)
    if off.count == 0:
        what = f"the account of {view.name} adds up in number, not in which events it holds"
        return Finding(Code.OTHER_EVENTS, None, what, None, expected, found)
    missing = f"{abs(off.count):,} record{'' if abs(off.count) == 1 else 's'} too {'many' if off.count > 0 else 'few'}"
    return Finding(Code.DOES_NOT_ADD_UP, None, f"the account of {view.name} has {missing}", None, expected, found)


def _sum(vectors: Iterable[Vector]) -> Vector:
    pairs = list(vectors)
    return Vector(sum(pair.count for pair in pairs), sum(pair.hash for pair in pairs))


def _traces(output: OutputHistory) -> Vector:
    """Rows by their traces; a row without one counts, with no hash, so that it does not pass for another. Further rows of a record do not."""
    without = sum(row.trace is None for row in output.rows)
    traces = Vector.of(trace for row in output.rows for trace in row.traces if not is_further(trace))
    return traces.plus(Vector(without))
