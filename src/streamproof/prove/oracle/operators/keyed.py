"""The twin of declared state: which row or timer meets which state, in which order; what an expression gives plain Python works out (`sql`)."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from streamproof.errors import ScenarioError
from streamproof.prove.oracle import sql
from streamproof.prove.oracle.declared import REMEDY, REQUIRED, Does, columns_read, does, typed, value
from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.operators.twin import Arriving, Held, State, Step, Twin
from streamproof.prove.oracle.rows import LATE, Row, Side
from streamproof.prove.oracle.tables import PlainTable
from streamproof.prove.oracle.trace import event_id

Key = tuple[Any, ...]
ABSORBED: Side = ("absorbed", "")
TAGGED: Side = ("tagged", "")
_MILLISECOND = 1_000
_END_OF_TIME = 2**61
"""A watermark beyond it is that of a batch query."""
_OWN = ("before", "each", "timer")
_INSTANT = sql.typed_by("CAST(NULL AS TIMESTAMP)")


@dataclass(frozen=True, eq=False)
class Keyed(Twin):
    """State of a key by its declaration.

    Parameters
    ----------
    called
        The fields as the job writes them, by their names in lower case, by which all else is.
    starts, typed
        What a key without a state has, and any value as one of the type of that.
    most
        How many elements those hold that have several.
    ttl_us
        How long it lasts after the latest row; None for ever.
    names
        The columns of rows that are read.
    initial
        The table with the state before the first batch, and its column with the time of the latest row of a key.
    """

    keeps: ClassVar[bool] = True
    holds: ClassVar[str] = "key"
    makes: ClassVar[bool] = True

    key: tuple[str, ...]
    called: Mapping[str, str]
    starts: Mapping[str, sql.Value]
    typed: Mapping[str, Any]
    most: Mapping[str, int]
    on_row: Does
    on_timer: Mapping[str, Does]
    ttl_us: int | None
    names: tuple[str, ...]
    order_by: str | None = None
    initial: tuple[str, str | None] | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Keyed":
        """The twin of a call; ScenarioError where an expression is none that plain Python works out."""
        timers = dict(given.get("on_timer") or {})
        said = {name: getattr(one, "starts", one) for name, one in given["state"].items()} | dict.fromkeys(
            timers, "CAST(NULL AS TIMESTAMP)"
        )
        try:
            return cls(
                tuple(given["key"]),
                {name.lower(): name for name in said},
                {name.lower(): value(f"state {name}", text) for name, text in said.items()},
                {name.lower(): typed(name, text) for name, text in said.items()},
                {name.lower(): one.at_most for name, one in given["state"].items() if getattr(one, "at_most", None) is not None},
                does("on_row", given["on_row"]),
                {name.lower(): does(f"on_timer {name}", step) for name, step in timers.items()},
                None if given["ttl"] == "never" else micros(given["ttl"]),
                columns_read(given["on_row"], [*map(str.lower, said), *_OWN]),
                given.get("order_by"),
                None if (begins := given.get("initial")) is None else (begins.table, begins.at),
            )
        except sql.NotModelled as problem:
            raise ScenarioError(f"keyed(): {problem}.", required=REQUIRED, remedy=REMEDY) from problem

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.key, *self.names, *([] if self.order_by is None else [self.order_by])]))

    @property
    def begins_with(self) -> str | None:
        return None if self.initial is None else self.initial[0]

    @property
    def declares(self) -> tuple[str, ...]:
        return tuple(self.called.values())

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(f"key {name} (is null)" for name in self.key)

    def refuses(self, values: Mapping[str, Any]) -> str | None:
        return next((f"key {name} (is null)" for name in self.key if values[name] is None), None)

    def begin(self, delay_us: int) -> State:
        return OfKeys(self)


@dataclass
class _Known:
    """The state of a key: its fields, what the latest of its rows is, and of each timer the record that has set it."""

    key: Mapping[str, Any]
    fields: dict[str, Any]
    latest_us: int
    set_by: dict[str, str] = field(default_factory=dict)


@dataclass
class OfKeys(State):
    """The state of every key. `ambiguous` are those of which two events of one time came together: a hash of their rows decides, not the twin."""

    twin: Keyed
    known: dict[Key, _Known] = field(default_factory=dict)
    ambiguous: list[Key] = field(default_factory=list)

    def begins(self, tables: Mapping[str, PlainTable]) -> None:
        """Each row of the table is a key with its fields, and no timer; one with a null in its key is none."""
        if self.twin.initial is None:
            return
        table, at = self.twin.initial
        fields = [called for name, called in self.twin.called.items() if name not in self.twin.on_timer]
        asked = (*self.twin.key, *fields, *([] if at is None else [at]))
        for row in tables[table].rows:
            missing = next((name for name in asked if name not in row), None)
            if missing is not None:
                raise ScenarioError(
                    f"keyed(): the table {table} has no column {missing}.",
                    required=f"It has {', '.join(asked)}, and perhaps others.",
                )
            key = tuple(row[name] for name in self.twin.key)
            if None in key:
                continue
            latest_us = 0 if at is None else _INSTANT(row[at])
            if latest_us is None:
                raise ScenarioError(f"keyed(): the table {table} has a row without {at}, from which ttl counts.")
            known = self._anew(key, latest_us)
            known.fields |= {
                name: self.twin.typed[name](_as_map(row[called]) if isinstance(known.fields[name], Mapping) else row[called])
                for name, called in self.twin.called.items()
                if name not in self.twin.on_timer
            }
            self.known[key] = known

    def step(self, *coming: Arriving) -> Step:
        (arriving,) = coming
        late = [row for row in arriving.rows if arriving.first and _is_late(row, arriving.bound_us)]
        gone = {id(row) for row in late}
        of_keys: dict[Key, list[Row]] = {}
        for row in arriving.rows:
            if id(row) not in gone:
                of_keys.setdefault(tuple(row.values[name] for name in self.twin.key), []).append(row)
        batch = _Batch(arriving.watermark_us)
        due = [key for key, known in self.known.items() if key not in of_keys and self._ends(known, arriving.watermark_us)]
        for key in (*of_keys, *due):
            self._of_key(key, of_keys.get(key, ()), batch)
        aside = {LATE: late, ABSORBED: batch.absorbed, TAGGED: batch.tagged}
        return Step(batch.main, aside, left=batch.emitted, made=batch.others)

    def held(self) -> Held:
        return Held(keys={key: self._wakes(known) or 0 for key, known in self.known.items()}, ambiguous=tuple(self.ambiguous))

    def fields(self) -> Mapping[Key, Mapping[str, Any]]:
        """What is in the state of each key now."""
        return {key: known.fields for key, known in self.known.items()}

    def _of_key(self, key: Key, rows: Sequence[Row], batch: "_Batch") -> None:
        ordered = sorted(rows, key=lambda row: (self._place(row), row.traces))
        for one, next_ in itertools.pairwise(ordered):
            if self._place(one) == self._place(next_) and event_id(one.traces[0]) != event_id(next_.traces[0]):
                self.ambiguous.append(key)
        known = self.known.get(key)
        for row in ordered:
            time_us = row.time_us or 0
            if known is not None:
                self._fire(known, min(batch.watermark_us, time_us - 1), batch)
            ttl_us = self.twin.ttl_us
            if known is not None and ttl_us is not None and not self._timers(known) and known.latest_us + ttl_us <= time_us:
                known = None
            if known is None:
                known = self._anew(key, time_us)
            known.latest_us = max(known.latest_us, time_us)
            self._take(known, row, batch)
        assert known is not None, "a key has a row, or a state that ends"
        self._fire(known, batch.watermark_us, batch, closing=batch.watermark_us >= _END_OF_TIME)
        if self._ends(known, batch.watermark_us):
            self.known.pop(key, None)
        else:
            self.known[key] = known

    def _anew(self, key: Key, time_us: int) -> _Known:
        by_name = {name.lower(): value for name, value in zip(self.twin.key, key, strict=True)}
        return _Known(by_name, {name: start({}) for name, start in self.twin.starts.items()}, time_us)

    def _place(self, row: Row) -> tuple[Any, ...]:
        """By time, and then by a column, where the job names one: a row without a value comes first."""
        order = None if self.twin.order_by is None else row.values[self.twin.order_by]
        return (row.time_us or 0, order is not None, sql.rank(order) if order is not None else 0)

    def _take(self, known: _Known, row: Row, batch: "_Batch") -> None:
        (trace,) = row.traces
        values = {name.lower(): value for name, value in row.values.items()}
        outputs = self._change(known, self.twin.on_row, values, (trace, trace), batch)
        if "" in outputs:
            batch.emitted.append(trace)
        else:
            (batch.tagged if outputs else batch.absorbed).append(row)

    def _fire(self, known: _Known, up_to_us: int, batch: "_Batch", *, closing: bool = False) -> None:
        """What is due fires, the earliest first, and of one instant in the order in which timers are declared.

        At the end of a batch query every timer is due; what timers set then is not.
        """
        over: set[str] = set()
        while (timers := {one: at for one, at in self._timers(known).items() if one not in over}) and min(
            timers.values()
        ) <= up_to_us:
            name = min(timers, key=lambda one: timers[one])
            due, by = timers[name], known.set_by[name]
            known.fields = before = {**known.fields, name: None}
            values = {**known.key, "timer": due}
            self._change(known, self.twin.on_timer[name], values, (by, f"{by}!{self.twin.called[name]}@{due}"), batch)
            if closing:
                over |= {one for one in self.twin.on_timer if known.fields[one] != before[one]}

    def _change(self, known: _Known, does: Does, values: Mapping[str, Any], ids: tuple[str, str], batch: "_Batch") -> set[str]:
        """Changes the state and adds rows; the outputs that have got one. `ids` are the record that is behind it, and what its rows are called."""
        before, (by, trace), due = known.fields, ids, values.get("timer")
        after = self._set(before, does, {**values, **before})
        lost = self._bound(after)
        for name in self.twin.on_timer:
            if after[name] != before[name]:
                known.set_by[name] = by
                if due is not None and after[name] is not None and after[name] <= due:
                    raise ScenarioError(
                        f"keyed(): the job stops, since a timer sets {name} to an instant that is not after its own."
                    )
        known.fields = after
        seen = {**values, **after, "before": before}
        counts: dict[str, int] = {}
        for one in does.emits:
            for made in one.rows(seen):
                batch.add(one.to, trace, counts.get(one.to, 0), made)
                counts[one.to] = counts.get(one.to, 0) + 1
        for name, elements in lost.items():
            for number, element in enumerate(elements):
                batch.lose(self.twin.called[name], trace, number, element)
        return set(counts)

    def _set(self, before: Mapping[str, Any], does: Does, seen: Mapping[str, Any]) -> dict[str, Any]:
        after = dict(before)
        for name, inside, is_part, becomes in does.sets:
            found = becomes(seen)
            if is_part:
                found = (*after[name], found) if inside is None else _entry(after[name], inside(seen), found)
            after[name] = self.twin.typed[name](found)
        return after

    def _bound(self, fields: dict[str, Any]) -> dict[str, list[Any]]:
        """Cuts what has too many elements, and gives those that were there first."""
        lost: dict[str, list[Any]] = {}
        for name, most in self.twin.most.items():
            found = fields[name]
            over = 0 if found is None else len(found) - most
            if over > 0 and isinstance(found, Mapping):
                entries = list(found.items())
                lost[name] = [{"key": key, "value": value} for key, value in entries[:over]]
                fields[name] = dict(entries[over:])
            elif over > 0:
                lost[name], fields[name] = [{"value": one} for one in found[:over]], found[over:]
        return lost

    def _timers(self, known: _Known) -> dict[str, int]:
        return {name: known.fields[name] for name in self.twin.on_timer if known.fields[name] is not None}

    def _wakes(self, known: _Known) -> int | None:
        """When the next timer is due or the state ends: a watermark is of whole milliseconds."""
        timers = self._timers(known)
        if not timers and self.twin.ttl_us is None:
            return None
        instant = min(timers.values()) if timers else known.latest_us + (self.twin.ttl_us or 0)
        return -(-instant // _MILLISECOND) * _MILLISECOND

    def _ends(self, known: _Known, watermark_us: int) -> bool:
        wakes = self._wakes(known)
        return wakes is not None and wakes <= watermark_us


@dataclass
class _Batch:
    """What a batch gives."""

    watermark_us: int
    main: list[Row] = field(default_factory=list)
    emitted: list[str] = field(default_factory=list)
    absorbed: list[Row] = field(default_factory=list)
    tagged: list[Row] = field(default_factory=list)
    others: dict[Side, list[Row]] = field(default_factory=dict)

    def add(self, to: str, trace: str, number: int, values: Mapping[str, Any]) -> None:
        row = Row((f"{trace}#{number}" if number else trace,), None, values)
        (self.others.setdefault(("tag", to), []) if to else self.main).append(row)

    def lose(self, name: str, trace: str, number: int, values: Mapping[str, Any]) -> None:
        self.others.setdefault(("overflow", name), []).append(Row((f"{trace}#{number}" if number else trace,), None, values))


def _entry(found: Mapping[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    """A map with an entry, which is then its last; without it where key or value is null."""
    others = {one: other for one, other in found.items() if one != key}
    return others if key is None or value is None else {**others, key: value}


def _as_map(value: Any) -> Any:
    """A map as files of a table give it: its entries."""
    return dict(value) if isinstance(value, tuple) else value


def _is_late(row: Row, bound_us: int) -> bool:
    return row.time_us is not None and row.time_us <= bound_us
