"""What a scenario's history says of each record, as data that is kept: the model's outcomes by node and batch, and the rows that were found."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from streamproof.prove.artifacts.history import History, OutputHistory, OutputRow, QueryView
from streamproof.prove.lineage.kept import KeptEvent, ToKeep
from streamproof.prove.lineage.values import ENDS_OF_WINDOWS, decimals_of
from streamproof.prove.oracle.expectation import BatchOutcome
from streamproof.prove.oracle.operators import method_of
from streamproof.prove.oracle.operators.twin import Held, Step, Twin
from streamproof.prove.oracle.query import Node, Query
from streamproof.prove.oracle.rows import LATE, Row
from streamproof.prove.scenario.generate import Event
from streamproof.prove.scenario.offered import Offered

_MAIN = "main"


def events_kept(
    offered: Offered, source_of: Mapping[str, str], called: Callable[[str], str], ids: Callable[[Event], Sequence[Any]]
) -> list[KeptEvent]:
    """The events that a scenario offers.

    Parameters
    ----------
    source_of
        By trace the source.
    called
        What people call an event, by its trace.
    ids
        The values that an event can be asked for by.
    """
    found = []
    for trace, event in offered.events.items():
        file, row = offered.files_of_trace.get(trace, ("", 0))
        known = tuple(str(value) for value in ids(event) if value is not None)
        found.append(KeptEvent(trace, called(trace), known, source_of.get(trace, ""), file, row, event.time_us))
    return found


def queries_kept(history: History) -> list[ToKeep]:
    """What each query of a scenario did: where an output has several sinks, the rows of each of them."""
    views: dict[str, QueryView] = {}
    outputs: dict[str, dict[str, dict[str, Any]]] = {}
    for view in history.queries:
        views.setdefault(view.name, view)
        for name, output in view.left.outputs.items():
            if output.name not in outputs.setdefault(view.name, {}):
                outputs[view.name][output.name] = output_of(view, name, output)
    return [
        ToKeep(name, view.model, partial(story_of, view), list(outputs.get(name, {}).values()), _starts(view))
        for name, view in views.items()
    ]


def story_of(view: QueryView) -> dict[str, Any]:
    """What the model says of a query.

    Its keys: `nodes` (the operators, the inputs of one before it), `output` (the number of the one whose rows come out), `batches` (of each its
    files, its watermark and what each operator made of it), `held` (what is in the state of an operator at the end), `reasons` (of each record
    that is left out for what is in it, the reason).
    """
    query = view.model.query
    number = {node: place for place, node in enumerate(query.nodes)}
    return {
        "nodes": [_node(node, number) for node in query.nodes],
        "output": number[query.output],
        "batches": [_batch(outcome, number, query) for outcome in view.model.batches],
        "held": {str(number[node]): _held(held) for node, held in view.model.held.items()},
        "reasons": {trace: record.reason for trace, record in view.arrived.items() if record.reason},
        "by_event": query.any_stays,
    }


def _node(node: Node, number: Mapping[Node, int]) -> dict[str, Any]:
    return {
        "method": method_of(node.twin),
        "of": list(_told_by(node.twin)),
        "inputs": [number[below] for below in node.inputs],
        "source": node.source,
        "keeps": node.twin.keeps,
    }


def _told_by(twin: Twin) -> Sequence[str]:
    """The columns, or tables, by which people tell an operator from another one."""
    by = twin.grouped.by if twin.grouped is not None else ()
    key = twin.pairs.key if twin.pairs is not None else ()
    return twin.once or by or key or twin.tables or (twin.columns if twin.keeps else ())


def _batch(outcome: BatchOutcome, number: Mapping[Node, int], query: Query) -> dict[str, Any]:
    read = outcome.read
    return {
        "batch": read.batch,
        "watermark_us": read.watermark_ms * 1_000,
        "bound_us": outcome.bound_us,
        "effective": read.effective,
        "files": list(read.files),
        "steps": {
            str(number[node]): _step(step, node, query)
            for node, step in outcome.steps.items()
            if not node.source or any(step.sides.values())
        },
    }


def _step(step: Step, node: Node, query: Query) -> dict[str, Any]:
    sides = [(side, rows) for side, rows in (*step.sides.items(), *step.made.items()) if rows]
    return {
        "rows": [] if node.source else [_row(row) for row in step.rows],
        "sides": [
            [kind, name, [_late(row, query) if (kind, "") == LATE else _row(row) for row in rows]] for (kind, name), rows in sides
        ],
    }


def _row(row: Row) -> Any:
    """A row of one record as its trace; any other with all that it is of."""
    if row.group is not None:
        (by, start_us), contents = row.group.key, row.group.contents
        return {
            "traces": list(contents.traces),
            "of_window": [list(by), start_us, contents.end_us],
            "number": row.group.revision,
            "records": contents.count,
            "hash": contents.hash,
        }
    return row.traces[0] if len(row.traces) == 1 else {"traces": list(row.traces)}


def _late(row: Row, query: Query) -> dict[str, Any]:
    """A late row with the end of the window that it is too late for, where a window decides and the twin can tell which."""
    found: dict[str, Any] = {"traces": list(row.traces), "time_us": row.time_us}
    if "window_end" in row.values:
        return {**found, "window_us": [row.values["window_start"], row.values["window_end"]]}
    deciding = next((twin.decides for way in query.ways for twin in way.keeping[:1] if twin.decides is not None), None)
    if deciding is None or deciding.merges or deciding.late_by_time or row.time_us is None or row.group is not None:
        return found
    return {**found, "window_us": list(deciding.of_event(row.time_us, deciding.gap_in(row.values))[-1])}


def _held(held: Held) -> dict[str, Any]:
    return {
        "windows": [
            {"of_window": [list(by), start_us, contents.end_us], "traces": list(contents.traces)}
            for (by, start_us), contents in held.groups.items()
        ],
        "waiting": list(held.waiting),
        "rows": list(held.rows),
    }


def output_of(view: QueryView, name: str, output: OutputHistory) -> dict[str, Any]:
    """The rows that were found in an output. In each row `of_window` says which it is of, where it is of one: key, start, and number."""
    main = output.kind == _MAIN
    return {
        "output": name,
        "sink": output.name,
        "kind": output.kind,
        "table": main and (view.table.keeps_last or view.table.one_of_key is not None),
        "masked": False,
        "instants": _instants(view),
        "decimals": decimals_of(row.values for row in output.rows),
        "rows": [_found(view, row, windowed=main and view.windowed) for row in output.rows],
    }


def _instants(view: QueryView) -> list[str]:
    """The columns that are known to be instants."""
    times = (view.declared.time, *view.declared.times.values())
    return [*ENDS_OF_WINDOWS, *dict.fromkeys(time.column for time in times if time is not None)]


def _found(view: QueryView, row: OutputRow, *, windowed: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "batch": row.batch,
        "in": _place(row),
        "values": {name: _plain(value) for name, value in row.values.items()},
    }
    if not windowed:
        return found | {"traces": list(row.traces)}
    try:
        (by, start_us), number = view.key_of(row), view.revision_of(row)
    except (KeyError, TypeError, ValueError):  # a row that a job writes as no window is
        return found | {"traces": list(row.traces)}
    return found | {"of_window": [list(by), start_us, number]}


def _place(row: OutputRow) -> str:
    """The folder of its batch; the file where there is no such folder: names of files differ from run to run."""
    folder = str(PurePosixPath(row.file).parent)
    return row.file if folder == "." else folder


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _starts(view: QueryView) -> dict[int, int]:
    """By batch which start of the job staged it, from 1 on: attempts of one start end with the same word."""
    order: dict[str, int] = {}
    return {
        read.batch: order.setdefault(read.run, len(order) + 1)
        for read in sorted(view.left.batches, key=lambda read: read.batch)
        if read.run
    }


def batches_alone(batches: Iterable[tuple[int, Sequence[str], int]]) -> dict[str, Any]:
    """The story of a query that no model knows: of each batch its number, its files, and its watermark in microseconds UTC."""
    return {
        "nodes": [],
        "batches": [
            {"batch": number, "files": list(files), "watermark_us": watermark_us, "effective": True}
            for number, files, watermark_us in batches
        ],
    }


def rows_alone(name: str, rows: Mapping[int | None, Sequence[Mapping[str, Any]]], *, masked: bool) -> dict[str, Any]:
    """The rows of an output that no model knows, by batch; with `masked` their values are left out."""
    found: list[dict[str, Any]] = [
        {
            "batch": batch,
            "in": "a batch that is not known" if batch is None else f"batch {batch}",
            "values": {} if masked else dict(row),
            "traces": [],
        }
        for batch, its in rows.items()
        for row in its
    ]
    return {
        "output": name,
        "sink": name,
        "kind": "main",
        "table": False,
        "masked": masked,
        "instants": [],
        "decimals": decimals_of(row["values"] for row in found),
        "rows": found,
    }


__all__ = ["batches_alone", "events_kept", "output_of", "queries_kept", "rows_alone", "story_of"]
