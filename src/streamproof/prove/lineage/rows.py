"""The rows that an SQL condition picks out of what a scenario has published, and the events that made them.

The condition is SQLite's: the rows of an output are laid into a table in memory, and no Spark is started.
"""

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from streamproof.errors import ConfigurationError
from streamproof.prove.lineage.following import Follower, agrees, traces_of
from streamproof.prove.lineage.values import is_hidden, shown_values
from streamproof.prove.oracle.trace import record_of

_NUMBER = "_number of the row"
_IN_DOUBLE_QUOTES = re.compile(r"""'(?:[^']|'')*'|"((?:[^"]|"")*)\"""")


@dataclass(frozen=True)
class Origin:
    """A row that was found, and the records that it is of.

    Parameters
    ----------
    query, output
        Whose row it is: the query, and the output or one of its several sinks.
    row, values
        The row as it was found: its batch, where it lies; its values as people see them.
    traces
        The records that it is of, by the model, or by the row itself where it carries its trace.
    by
        The batch of the model that gives such a row; None where it gives none.
    agrees
        Whether the count and the hash sum that the row carries are those of the records; None where it carries none.
    times, wanted
        How often the output has this row, and how often the model.
    """

    query: str
    output: str
    row: Mapping[str, Any]
    values: Mapping[str, Any]
    traces: tuple[str, ...]
    by: int | None = None
    agrees: bool | None = None
    batches: Mapping[str, int | None] = field(default_factory=dict)
    times: int = 1
    wanted: int = 1

    @property
    def doubled(self) -> bool:
        """Whether the output has it more often than the model."""
        return self.times > self.wanted

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "query": self.query,
            "output": self.output,
            "batch": self.row["batch"],
            "in": self.row["in"],
            "values": self.values,
            "given_by_batch": self.by,
            "agrees": self.agrees,
            "times": self.times,
            "times_in_the_model": self.wanted,
            "events": [{"trace": trace, "batch": self.batches.get(trace)} for trace in self.traces],
        }


def origins(followers: Sequence[Follower], condition: str, output: str | None = None) -> list[Origin]:
    """The rows for which a condition holds, with the records that made them.

    Parameters
    ----------
    output
        Look at this output alone; None for all that have the columns of the condition.

    Raises
    ------
    ConfigurationError
        If the condition cannot be read, names a column that no output has, or no row fits it.
    """
    found, problems, looked_at = list[Origin](), dict[str, str](), 0
    for follower in followers:
        for held in follower.kept.outputs:
            if output is not None and output not in (held["output"], held["sink"]):
                continue
            looked_at += 1
            try:
                places = _places(held, condition)
            except sqlite3.Error as problem:
                problems[held["sink"]] = str(problem)
                continue
            found += [origin_of(follower, held, held["rows"][place]) for place in places]
    if not looked_at:
        raise _no_output(followers, output or "")
    if len(problems) == looked_at:
        raise _wrong_condition(followers, condition, problems, output)
    if not found:
        raise _no_row(followers, condition, output)
    return found


def _places(held: Mapping[str, Any], condition: str) -> list[int]:
    """The numbers of the rows of an output for which the condition holds.

    Decimals are numbers of SQLite: up to 15 digits they are compared exactly. Of longer ones SQLite takes the nearest double, so it does not
    tell two apart that differ behind the 15th digit.
    """
    rows = [shown_values(row["values"], held["instants"]) for row in held["rows"]]
    columns = columns_of(held["rows"])
    if not columns:
        return []
    known = {name.lower() for name in columns}
    for name in _IN_DOUBLE_QUOTES.findall(condition):  # SQLite takes one that is not there for a text
        if name and name.replace('""', '"').lower() not in known:
            raise sqlite3.OperationalError(f"no such column: {name}")
    with closing(sqlite3.connect(":memory:")) as tables:
        decimals = held.get("decimals", ())  # not kept by versions before
        names = ", ".join(f"{_quoted(name)}{' numeric' if name in decimals else ''}" for name in (_NUMBER, *columns))
        tables.execute(f"create table rows ({names})")
        marks = ", ".join("?" * (len(columns) + 1))
        filled = ((place, *(_cell(row.get(name)) for name in columns)) for place, row in enumerate(rows))
        tables.executemany(f"insert into rows values ({marks})", filled)  # noqa: S608 -- marks alone
        chosen = tables.execute(f"select {_quoted(_NUMBER)} from rows where ({condition}) order by 1")  # noqa: S608 -- their own rows, in memory
        return [int(number) for (number,) in chosen]


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of rows, hidden ones left out; of two that differ in case alone the first: SQL does not tell them apart."""
    names = dict.fromkeys(name for row in rows for name in row["values"] if not is_hidden(name))
    return list({name.lower(): name for name in reversed(list(names))}.values())[::-1]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _cell(shown: Any) -> Any:
    """A value as SQLite holds it."""
    if shown is None or isinstance(shown, str | float):
        return shown
    if isinstance(shown, int):
        return shown if -(2**63) <= shown < 2**63 else float(shown)
    return json.dumps(shown)


def origin_of(follower: Follower, held: Mapping[str, Any], row: Mapping[str, Any]) -> Origin:
    """Where a row of an output (one of `follower.kept.outputs`) came from."""
    found = follower.given(held, row)
    given = found[0] if found else None
    carried = row.get("traces", ())
    traces = tuple(traces_of(given[1])) if given is not None else tuple(carried)
    vouched = agrees(row, given[1]) if given is not None and "of_window" in row else None
    batches = {trace: follower.batch_of(record_of(trace)) for trace in traces}
    return Origin(
        follower.kept.query,
        held["sink"],
        row,
        shown_values(row["values"], held["instants"]),
        traces,
        given[0] if given is not None else None,
        vouched,
        batches,
        1 if given is None else follower.times(held, row),
        max(1, len(found)),
    )


def _no_output(followers: Sequence[Follower], output: str) -> ConfigurationError:
    there = [held["sink"] for follower in followers for held in follower.kept.outputs]
    return ConfigurationError(f'There is no output "{output}" in this run.', required=f"It has {', '.join(there) or 'none'}.")


def _wrong_condition(
    followers: Sequence[Follower], condition: str, problems: Mapping[str, str], output: str | None
) -> ConfigurationError:
    said = next(iter(problems.values()))
    there = [
        f"{held['sink']} has {', '.join(columns_of(held['rows']))}"
        for follower in followers
        for held in follower.kept.outputs
        if held["rows"] and output in (None, held["output"], held["sink"])
    ]
    return ConfigurationError(
        f"--row {json.dumps(condition)} cannot be asked of any output: {said}.",
        required=f"A condition of SQLite's SQL over the columns of an output. {'; '.join(there)}.",
        remedy="Texts stand in single quotes: --row \"client = 'c17'\". Windows are texts in UTC: --row \"window_start = '2026-01-05 09:00:30'\"",
    )


def _masked(condition: str) -> ConfigurationError:
    return ConfigurationError(
        f"--row {json.dumps(condition)} cannot be asked of this run: it keeps no values, because they come from a sample of yours.",
        remedy="Prove again with --show-values, or ask for an event by its trace id.",
    )


def _no_row(followers: Sequence[Follower], condition: str, output: str | None) -> ConfigurationError:
    if followers and all(held.get("masked") for follower in followers for held in follower.kept.outputs):
        raise _masked(condition)
    counts = [
        f"{len(held['rows']):,} in {held['sink']}"
        for follower in followers
        for held in follower.kept.outputs
        if output in (None, held["output"], held["sink"])
    ]
    there = ((held, row) for follower in followers for held in follower.kept.outputs for row in held["rows"])
    example = next((shown_values(row["values"], held["instants"]) for held, row in there), {})
    shown = ", ".join(f"{name} = {value!r}" for name, value in list(example.items())[:4])
    return ConfigurationError(
        f"No published row fits --row {json.dumps(condition)}: there are {', '.join(counts)}.",
        required=f"A row looks like: {shown}." if shown else "",
        remedy="Ask for the event instead, by its id: it may be late, rejected, or still in state.",
    )


__all__ = ["Origin", "columns_of", "origin_of", "origins"]
