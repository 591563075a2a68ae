"""Where an event went: the twins' outcomes of each batch, read along the tree, and beside them the rows that were found."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from streamproof.prove.lineage.kept import KeptEvent, KeptQuery
from streamproof.prove.lineage.moments import Kind, Moment, Way
from streamproof.prove.lineage.values import shown_values
from streamproof.prove.oracle.trace import event_id, record_of

_MAIN, _DUPLICATE = "main", "duplicate"
Window = Sequence[Any]
"""The values of the key, the start and the end (of a row that was found its number), microseconds UTC."""


def is_of(trace: str, traces: Sequence[str]) -> bool:
    """Whether one of the traces of a row is of a record: a further row of it ends with "#1", one of a timer with "!name@instant"."""
    return trace in traces or any(one.startswith(trace) and record_of(one) == trace for one in traces)


def traces_of(row: Any) -> Sequence[str]:
    """The traces of a kept row."""
    return (row,) if isinstance(row, str) else row["traces"]


def rows_with(rows: Sequence[Any], trace: str) -> list[Any]:
    """The kept rows that are of a record."""
    return [
        row
        for row in rows
        if (row.startswith(trace) and record_of(row) == trace if isinstance(row, str) else is_of(trace, row["traces"]))
    ]


class Follower:
    """Follows records through one query of a scenario."""

    known: ClassVar[bool] = True
    """Whether a model says what the query does with records."""

    def __init__(self, kept: KeptQuery, events: Mapping[str, KeptEvent]) -> None:
        self.kept, self.story, self._events = kept, kept.story, events
        self._of_model: dict[str, dict[str, list[tuple[int, Any]]]] = {}
        self._counted: dict[str, Counter[str]] = {}

    @cached_property
    def operators(self) -> Sequence[str]:
        """The operators, as people tell them apart."""
        return [(f"{node['method']} ({', '.join(node['of'])})" if node["of"] else node["method"]) for node in self.story["nodes"]]

    @cached_property
    def _batch_of_file(self) -> Mapping[str, Mapping[str, Any]]:
        return {file: batch for batch in reversed(self.story["batches"]) for file in batch["files"]}

    def reads(self, event: KeptEvent) -> bool:
        """Whether the event is of a source of this query."""
        sources = {node["source"] for node in self.story["nodes"] if node["source"]}
        return not event.source or not sources or event.source in sources

    def batch_of(self, trace: str) -> int | None:
        """The batch that read a record; None where none did."""
        event = self._events.get(trace)
        batch = self._batch_of_file.get(event.file) if event is not None else None
        return None if batch is None else int(batch["batch"])

    def follow(self, event: KeptEvent) -> Way:
        """The way of a record."""
        return Way(self.kept.query, event.trace, tuple(self._moments(event)))

    def _moments(self, event: KeptEvent) -> Iterator[Moment]:
        batch = self._batch_of_file.get(event.file)
        place = {"file": event.file, "row": event.row, "time_us": event.time_us, "source": event.source or None}
        if batch is None:
            yield Moment(Kind.NOT_READ, None, about=place)
            return
        yield Moment(Kind.ARRIVED, batch["batch"], about=place)
        if not batch["effective"]:
            yield Moment(Kind.NO_EFFECT, batch["batch"])
            return
        passed: list[str] = []
        last = -1
        for number, node in enumerate(self.story["nodes"]):
            found = list(self._at(number, node, event.trace))
            if found == [Moment(Kind.PASSED)]:
                passed.append(self.operators[number])
                last = number
                continue
            if found and passed:
                yield Moment(Kind.PASSED, batch["batch"], about={"operators": list(passed)})
                passed.clear()
            yield from found
        if passed and last >= 0:
            yield Moment(Kind.PASSED, batch["batch"], about={"operators": passed})
        yield from self._published(event.trace)

    # -- what the twins say

    def _at(self, number: int, node: Mapping[str, Any], trace: str) -> Iterator[Moment]:
        """What one operator does with a record."""
        out: list[Moment] = []
        for batch in self.story["batches"]:
            step = batch["steps"].get(str(number))
            if step is None:
                continue
            yield from self._left(number, batch, step, trace)
            out += [self._given(number, node, batch, row, trace) for row in rows_with(step["rows"], trace)]
        if out and not node["keeps"] and all(moment.kind is Kind.KEPT for moment in out):
            yield Moment(Kind.PASSED)
        else:
            yield from out
        yield from self._held(number, trace, given={str(moment.about.get("window")) for moment in out})

    def _left(self, number: int, batch: Mapping[str, Any], step: Mapping[str, Any], trace: str) -> Iterator[Moment]:
        for kind, name, rows in step["sides"]:
            for row in rows_with(rows, trace):
                side = f"{kind}:{name}" if name else kind
                about = {"side": side, "reason": self.story["reasons"].get(trace), "traces": self._others(row, trace) or None}
                if kind == "late":
                    about |= {"bound_us": batch["bound_us"], "window": row.get("window_us"), "time_us": row.get("time_us")}
                elif kind == _DUPLICATE:
                    about["kept"] = self._kept_instead(number, trace)
                yield Moment(Kind.LEFT, batch["batch"], self.operators[number], about)

    def _kept_instead(self, number: int, trace: str) -> str | None:
        """The copy of an event that goes on in its place, where it is one of the same event."""
        for batch in self.story["batches"]:
            for row in batch["steps"].get(str(number), {}).get("rows", ()):
                for other in traces_of(row):
                    if other != trace and event_id(record_of(other)) == event_id(trace):
                        return str(other)
        return None

    def _given(self, number: int, node: Mapping[str, Any], batch: Mapping[str, Any], row: Any, trace: str) -> Moment:
        """A row of an operator that the record is in."""
        others = self._others(row, trace)
        if not isinstance(row, str) and "of_window" in row:
            about = {"window": row["of_window"], "number": row["number"], "records": row["records"], "others": row["records"] - 1}
            return Moment(Kind.GROUPED, batch["batch"], self.operators[number], about)
        if others or (not isinstance(row, str)) or row != trace:
            return Moment(Kind.MADE, batch["batch"], self.operators[number], {"traces": list(traces_of(row)), "others": others})
        about = {"dropped": self._dropped(number, trace)} if node["keeps"] else {}
        return Moment(Kind.KEPT, batch["batch"], self.operators[number], about)

    def _dropped(self, number: int, trace: str) -> list[list[Any]]:
        """The copies of its event that the operator drops, each with the batch that did."""
        return [
            [other, batch["batch"]]
            for batch in self.story["batches"]
            for kind, _, rows in batch["steps"].get(str(number), {}).get("sides", ())
            if kind == _DUPLICATE
            for row in rows
            for other in traces_of(row)
            if other != trace and event_id(other) == event_id(trace)
        ]

    def _held(self, number: int, trace: str, given: set[str]) -> Iterator[Moment]:
        """What of it is in the state of an operator after the last batch."""
        held, operator = self.story["held"].get(str(number)), self.operators[number]
        if held is None:
            return
        windows = [one for one in held["windows"] if is_of(trace, one["traces"])]
        for one in windows:
            about = {"window": one["of_window"], "others": len(one["traces"]) - 1, "given": str(one["of_window"]) in given}
            yield Moment(Kind.OPEN, None, operator, about)
        if is_of(trace, held["waiting"]) and not windows:
            yield Moment(Kind.WAITS, None, operator)
        elif is_of(trace, held["rows"]) and not windows:
            yield Moment(Kind.REMEMBERED, None, operator)

    @staticmethod
    def _others(row: Any, trace: str) -> list[str]:
        """The other records that a row is of, which are not many: a window says how many instead."""
        if isinstance(row, str) or "of_window" in row:
            return []
        return [one for one in row["traces"] if one != trace and record_of(one) != trace]

    # -- what was found

    def _published(self, trace: str) -> Iterator[Moment]:
        """The rows of the outputs that the record is in, held against those that the model says."""
        explained: set[tuple[str, int]] = set()
        for output in self.kept.outputs:
            for wanted in self._wanted(output, trace):
                places = [place for place, row in enumerate(output["rows"]) if self.matches(row, wanted[0])]
                explained |= {(output["sink"], place) for place in places}
                yield from self._compared(output, wanted, [output["rows"][place] for place in places], trace)
        yield from self._not_an_output(trace)
        for output in self.kept.outputs:
            for place, row in enumerate(output["rows"]):
                if (output["sink"], place) not in explained and is_of(trace, row.get("traces", ())):
                    yield Moment(Kind.UNEXPLAINED, row["batch"], about=_of_row(output, row))

    def _wanted(self, output: Mapping[str, Any], trace: str) -> list[list[Any]]:
        """The rows that the model has in an output and that the record is in, each with all that cannot be told from it: rows of its copies too."""
        alike: dict[str, list[Any]] = {}
        for row in self.expected(output):
            window = None if isinstance(row, str) or "of_window" not in row else (row["of_window"], row["number"])
            alike.setdefault(str(window or self._identity(traces_of(row))), []).append(row)
        return [rows for rows in alike.values() if rows_with(rows, trace)]

    def expected(self, output: Mapping[str, Any]) -> list[Any]:
        """All rows that the model has in an output."""
        return [row for _, row in self.expected_by_batch(output)]

    def expected_by_batch(self, output: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
        """The same, each with its batch: those of the last operator with state, or those that leave by the side that the output is of."""
        kind, _, name = output["kind"].partition(":")
        if kind == _MAIN and self.story["nodes"][self.story["output"]]["source"]:
            yield from self._as_they_came()
            return
        for batch in self.story["batches"]:
            if kind == _MAIN:
                yield from ((batch["batch"], row) for row in batch["steps"].get(str(self.story["output"]), {}).get("rows", ()))
                continue
            sides = (side for step in batch["steps"].values() for side in step["sides"])
            yield from (
                (batch["batch"], row) for of, called, rows in sides if of == kind and (not name or called == name) for row in rows
            )

    def _as_they_came(self) -> Iterator[tuple[int, str]]:
        """Of a query without any operator all records that its source has read and not rejected."""
        steps = [step for batch in self.story["batches"] for step in batch["steps"].values()]
        left = {trace for step in steps for _, _, rows in step["sides"] for row in rows for trace in traces_of(row)}
        for trace, event in self._events.items():
            batch = self._batch_of_file.get(event.file)
            if batch is not None and batch["effective"] and trace not in left:
                yield batch["batch"], trace

    def given(self, output: Mapping[str, Any], row: Mapping[str, Any]) -> Sequence[tuple[int, Any]]:
        """The rows of the model that a row that was found can be, each with the batch that gives it."""
        if not self.story["nodes"]:
            return ()
        if output["sink"] not in self._of_model:
            known = self._of_model[output["sink"]] = {}
            for batch, wanted in self.expected_by_batch(output):
                known.setdefault(self._name(wanted), []).append((batch, wanted))
        return self._of_model[output["sink"]].get(self._name(row), ())

    def times(self, output: Mapping[str, Any], row: Mapping[str, Any]) -> int:
        """How often an output has a row that cannot be told from this one."""
        if output["sink"] not in self._counted:
            self._counted[output["sink"]] = Counter(map(self._name, output["rows"]))
        return self._counted[output["sink"]][self._name(row)]

    def _name(self, row: Any) -> str:
        """What a row is known by, of the model or found: rows that match have one name."""
        if not isinstance(row, str) and "of_window" in row:
            return json.dumps([*row["of_window"][:2], row["number"] if "number" in row else row["of_window"][2]])
        return json.dumps(self._identity(traces_of(row) if isinstance(row, str) else row.get("traces", ())))

    def matches(self, found: Mapping[str, Any], wanted: Any) -> bool:
        """Whether a row that was found is the one that the model has."""
        if not isinstance(wanted, str) and "of_window" in wanted:
            by, start_us, number = found.get("of_window", (None, None, None))
            return [by, start_us, number] == [wanted["of_window"][0], wanted["of_window"][1], wanted["number"]]
        return self._identity(found.get("traces", ())) == self._identity(traces_of(wanted))

    def _identity(self, traces: Sequence[str]) -> list[str]:
        """What a row is known by: its events where it is not promised which copy of one stays."""
        return [event_id(trace) for trace in traces] if self.story["by_event"] else list(traces)

    def _compared(
        self, output: Mapping[str, Any], wanted: Sequence[Any], rows: Sequence[Mapping[str, Any]], trace: str
    ) -> Iterator[Moment]:
        """What was found of rows that cannot be told apart: all of them, too many, or too few. Its own are shown, and else those of its copies."""
        model, times = wanted[0], len(wanted)
        window = None if isinstance(model, str) else model.get("of_window")
        about = {"output": output["sink"], "window": window}
        if len(rows) < times:
            yield Moment(Kind.REPLACED if output["table"] else Kind.MISSING, about={**about, "times": len(rows), "expected": times})
        for row in [row for row in rows if is_of(trace, row.get("traces", ()))] or rows:
            yield Moment(Kind.PUBLISHED, row["batch"], about={**_of_row(output, row), "window": window})
            if window is not None and not agrees(row, model):
                records = {"records": row["values"].get("_records"), "expected": model["records"]}
                yield Moment(Kind.OTHER_CONTENTS, row["batch"], about={**about, **records})
        if len(rows) > times:
            batches = [row["batch"] for row in rows]
            yield Moment(Kind.DOUBLED, about={**about, "times": len(rows), "expected": times, "batches": batches})

    def _not_an_output(self, trace: str) -> Iterator[Moment]:
        """The sides that it leaves by and that the job makes no output of: such records are counted."""
        made = [output["kind"] for output in self.kept.outputs]
        for batch in self.story["batches"]:
            for step in batch["steps"].values():
                for kind, name, rows in step["sides"]:
                    side = f"{kind}:{name}" if name else kind
                    if not {kind, side} & set(made) and rows_with(rows, trace):
                        yield Moment(Kind.NOT_AN_OUTPUT, batch["batch"], about={"side": side})


def agrees(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the hidden count and hash sum of a row are those of the records that the model has in its window."""
    values = found["values"]
    return (values.get("_records"), values.get("_trace_hash")) == (wanted["records"], wanted["hash"])


def _of_row(output: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    return {"output": output["sink"], "in": row["in"], "values": shown_values(row["values"], output["instants"])}


__all__ = ["Follower", "agrees", "is_of", "traces_of"]
