"""What `run` shows, drawn from the events of the run: how far it is, one JSON line an event, and the result."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from streamproof.cli import screen
from streamproof.core.clock import monotonic_seconds, now_utc

if TYPE_CHECKING:
    from rich.console import Console

    from streamproof.runtime.watching.events import BatchPlanned, PublicationWaiting, RunEvent
    from streamproof.runtime.watching.result import QueryAccount, RunResult


_NO_PLAN = "looking for input"
"""Before Spark has planned a batch it asks the sources what is new."""


@dataclass
class _Doing:
    """What is being done, and since when."""

    what: str
    since: float


@dataclass
class _Query:
    """How far a query is: the batch that is under way, or comes next, what becomes of it, and how many batches and rows it has done."""

    batch: int
    phase: _Doing
    done: int = 0
    rows: int = 0


class RunProgress:
    """Says in a few words how far a run is: at each event, and again for whoever looks meanwhile.

    What changes from second to second stands in parentheses.

    Parameters
    ----------
    say
        Shows a text in place of the one before.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = monotonic_seconds) -> None:
        self._say, self._clock = say, clock
        self._doing: _Doing | None = None
        """What is done before and after the batches; None while they run."""
        self._queries: dict[str, _Query] = {}
        self._waiting: dict[tuple[str, str], tuple[PublicationWaiting, float]] = {}
        """By query and output what was said last, and when it is asked again."""
        self._lock = threading.Lock()

    def __call__(self, event: "RunEvent") -> None:
        with self._lock:
            self._hear(event)
        self.say_again()

    def begin(self, what: str) -> None:
        """Says what is done before there are events."""
        with self._lock:
            self._doing = _Doing(what, self._clock())
        self.say_again()

    def say_again(self) -> None:
        """Says it once more: seconds have passed."""
        with self._lock:
            text = f"{self._doing.what}{self._lasts(self._doing)}" if self._doing is not None else self._of_batches()
            if text:
                self._say(text)

    def _hear(self, event: "RunEvent") -> None:
        from streamproof.runtime.watching import events

        match event:
            case events.Fetching():
                self._does(f"fetching {event.file}, {event.bytes >> 20} of {event.of_bytes >> 20} MB")
            case events.SparkStarting():
                self._does("starting Spark")
            case events.QueryStarting():
                self._does(f"looking at checkpoint and outputs of {event.query}")
            case events.QueryStarted():
                self._doing = None
                self._queries[event.query] = _Query(event.batch, _Doing(_NO_PLAN, self._clock()))
            case events.BatchPlanned():
                self._is_at(event.query, event.batch, f"computing{_limited(event)}")
            case events.BatchStaged():
                self._is_at(event.query, event.batch, "publishing")
            case events.BatchCommitted():
                query = self._is_at(event.query, event.batch + 1, _NO_PLAN)
                query.done += 1
                query.rows += event.counts["input"]
            case events.PublicationWaiting() if event.batches:
                self._waiting[event.query, event.output] = event, self._clock() + event.seconds
            case events.PublicationWaiting() | events.BatchPublished(waiting=0):
                self._waiting.pop((event.query, event.output), None)
            case events.QueryFinishing():
                what = (
                    "ending {} after the batch that is under way"
                    if event.asked_to_end
                    else "waiting for what {} still has to publish"
                )
                self._does(what.format(event.query))

    def _does(self, what: str) -> None:
        self._doing = _Doing(what, self._clock())

    def _is_at(self, name: str, batch: int, phase: str) -> _Query:
        query = self._queries[name]
        query.batch, query.phase = batch, _Doing(phase, self._clock())
        return query

    def _of_batches(self) -> str:
        """How far each query is; what waits for stores that are down."""
        several = len(self._queries) > 1
        said = [f"{f'{name}: ' if several else ''}{self._of(query)}" for name, query in self._queries.items()]
        waits = [f"{event.says} ({self._asked(at)})" for event, at in self._waiting.values()]
        return "; ".join((*said, *waits))

    def _of(self, query: _Query) -> str:
        """Until a batch is done, what becomes of it is news; later the phases follow each other too fast."""
        phase = f"{query.phase.what}{self._lasts(query.phase, ', {} s')}"
        if not query.done:
            return f"batch {query.batch}, {query.phase.what}{self._lasts(query.phase)}"
        return f"batch {query.batch}, {query.rows:,} rows in ({phase})"

    def _asked(self, at: float) -> str:
        left = at - self._clock()
        return f"asked again in {max(1, round(left))} s" if left > 0 else f"being asked again, no answer for {round(-left)} s"

    def _lasts(self, doing: _Doing, said: str = " ({} s)") -> str:
        """How long it has been done, where that is a second or more."""
        seconds = int(self._clock() - doing.since)
        return said.format(seconds) if seconds >= 1 else ""


def _limited(event: "BatchPlanned") -> str:
    """What a batch takes at most of its sources; of several each by its name."""
    several = len(event.limits) > 1
    said = [f"{limit.most:,} {limit.of}{f' of {limit.source}' if several else ''}" for limit in event.limits]
    return f" at most {' and '.join(said)}" if said else ""


class EventLines:
    """Prints each event as one line of JSON, with the time in front."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def __call__(self, event: "RunEvent") -> None:
        line = json.dumps({"at": now_utc().isoformat(timespec="milliseconds"), **event.as_dict()})
        try:
            self._out.write(f"{line}\n")
            self._out.flush()
        except BrokenPipeError:  # who reads us has gone; the job goes on
            screen.silence_output()


def print_result(result: "RunResult", out: "Console") -> None:
    """Print a line an output, then the account and what is still open."""
    from rich.text import Text

    from streamproof.core.account import shown
    from streamproof.report.words import PLACES, number, span

    batches = f"{result.batches} batch{'' if result.batches == 1 else 'es'}"
    if result.without_input:
        batches += f" ({result.without_input} without input, as the watermark went on)"
    out.print(f"{result.job} · {batches} · {number(result.rows_in)} rows in · {span(result.seconds)}")
    columns = [
        (each.name, screen.redacted(_shown_place(each.where)), each.format, f"{number(each.rows)} rows") for each in result.outputs
    ]
    widths = [max((len(row[column]) for row in columns), default=0) for column in range(4)]
    for output, row in zip(result.outputs, columns, strict=True):
        reasons = " · ".join(f"{number(count)} {reason}" for reason, count in output.reasons.items())
        cells = (
            *(f"{cell:<{width}}" for cell, width in zip(row[:3], widths, strict=False)),
            f"{row[3]:>{widths[3]}}",
            output.guarantee,
        )
        out.print(f"  {'   '.join(cells)}{f'     {reasons}' if reasons else ''}")
    label = max(len("account"), widths[0])
    for each in result.accounts:
        said = {"duplicate": _where_duplicates_are(each)}
        found = each.account.as_dict()
        counts = " + ".join(f"{PLACES[place]} {number(found[place])}{said.get(place, '')}" for place in shown(found))
        of_query = "" if len(result.accounts) == 1 else f"{each.query}: "
        since = "" if each.input in (0, result.rows_in) else ", since the checkpoint began"
        out.print(f"  {'account':<{label}}   {of_query}{counts} = {number(each.account.total)}{since}")
        if each.unknown_since is not None:
            out.print(f"  {'':<{label}}   unknown since batch {each.unknown_since}")
        elif not each.adds_up:
            missing = each.input - each.account.total
            wrong = f"{number(abs(missing))} {'missing' if missing > 0 else 'too many'}: {number(each.input)} were read"
            out.print(Text(f"  {'':<{label}}   {wrong}", style="bold red"))
        if each.open:
            out.print(f"  {'':<{label}}   {of_query}{_what_is_open(each)}")
    for number_of, line in enumerate(_lag(result)):
        out.print(f"  {'' if number_of else 'lag':<{label}}   {line}")
    for note in result.notes:
        out.print(f"  {'note':<{label}}   {note}")


def _what_is_open(account: "QueryAccount") -> str:
    """ "34 windows are open until ...", or of a deduplication by an order "34 keys wait until ..."."""
    from streamproof.report.words import number

    until = f" until the watermark passes {_clock(account.open_until)}" if account.open_until else ""
    return f"{account.open_are.said(account.open, number(account.open))}{until}"


def _where_duplicates_are(account: "QueryAccount") -> str:
    """After the number of duplicates the output that has them as rows; a checkpoint that is older than it has counted more of them."""
    from streamproof.report.words import number

    if not account.duplicates_in or not account.account.duplicate:
        return ""
    of_them = "" if account.duplicates_written == account.account.duplicate else f"{number(account.duplicates_written)} of them "
    return f" ({of_them}in output {account.duplicates_in})"


def _lag(result: "RunResult") -> list[str]:
    """How far topics are read: a line of a source that is read to its end, a line of each partition of one that is not."""
    from streamproof.report.words import number

    lines: list[str] = []
    for source in dict.fromkeys(each.source for each in result.lag):
        partitions = [each for each in result.lag if each.source == source]
        behind, undecided = [each for each in partitions if each.lag], sum(each.undecided for each in partitions)
        waits = f"; {number(undecided)} more lie in or after a transaction that is open" if undecided else ""
        if not behind:
            lines.append(
                f"{source} is read to its end ({number(len(partitions))} partition{'' if len(partitions) == 1 else 's'}){waits}"
            )
            continue
        lines.append(f"{source} is {number(sum(each.lag for each in behind))} records behind{waits}, of these partitions:")
        rows = [(f"{each.topic}-{each.partition}", *map(number, (each.position, each.end, each.lag))) for each in behind]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines += [
            f"  {name:<{widths[0]}}   read to {position:>{widths[1]}}   of {end:>{widths[2]}}   {lag:>{widths[3]}} behind"
            for name, position, end, lag in rows
        ]
    return lines


def _shown_place(where: str) -> str:
    from streamproof.core.paths import display

    return where if ":" in where else display(Path(where))


def _clock(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")
