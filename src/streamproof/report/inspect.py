"""What is in a checkpoint, in the terminal: one screen, the newest first."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from rich.console import Console
from rich.text import Text

from streamproof.checkpoint.batches import FILES, NONE_YET, OTHER, SECONDS, Batch, ReadTo
from streamproof.checkpoint.inspection import PARTITIONS, STORES, Inspection, StoreSize, files_in
from streamproof.checkpoint.kinds import kind_of
from streamproof.checkpoint.own import Own, Waiting
from streamproof.checkpoint.schemas import Schema
from streamproof.checkpoint.stores import Operator
from streamproof.core.clock import from_micros
from streamproof.core.masking import masked
from streamproof.core.paths import path_of
from streamproof.report import words

_LABEL = 14
_BATCHES = 5
_PARTITIONS = 6
_POSITIONS = 8
_UNITS = ("B", "kB", "MB", "GB", "TB")
_PROVIDERS = {
    "RocksDBStateStoreProvider": "RocksDB",
    "HDFSBackedStateStoreProvider": "HDFS-backed",
    "WindowStateStoreProvider": "RocksDB (Streamproof's)",
    "IdentifiedStateStoreProvider": "RocksDB (Streamproof's)",
}
_WINDOW_END = "_window_end"


def print_inspection(
    found: Inspection, console: Console, now: datetime, counted: Mapping[int, Mapping[int, int]] | None = None
) -> None:
    """Print what is in a checkpoint.

    Parameters
    ----------
    now
        The present instant, for its age.
    counted
        By operator and partition the rows, where Spark has counted them.
    """
    console.print(Text(" · ".join(_head(found, now)), style="bold"), soft_wrap=True)
    for label, text in _lines(found, counted or {}):
        console.print(Text("  " + label.ljust(_LABEL), style="dim") + Text(words.printable(text), style="not dim"), soft_wrap=True)


def _head(found: Inspection, now: datetime) -> Iterator[str]:
    yield words.printable(str(found.path))
    newest = found.newest
    if newest is None:
        yield "no batch yet"
        return
    yield f"{words.counted(len(found.batches), 'batch').replace('batchs', 'batches')}, {found.batches[0].number} to {newest.number}"
    state = "committed" if newest.committed else "not committed"
    yield f"the newest {state}, planned {age(newest.planned_ms, now)}"
    yield f"state format {found.state_format}" if found.operators else "no state"


def _lines(found: Inspection, counted: Mapping[int, Mapping[int, int]]) -> Iterator[tuple[str, str]]:
    if found.own is not None:
        yield "written by", _whose(found.own)
    else:
        yield "written by", "a program without Streamproof"
    newest = found.newest
    if newest is not None:
        for number, read in enumerate(newest.sources):
            label = "read up to" if number == 0 else ""
            name = f"source {number}: " if len(newest.sources) > 1 else ""
            yield label, name + _read(found, number, read)
        yield "watermark", f"{_day_time(newest.watermark_ms)} UTC" if newest.watermark_ms else "none yet"
    for position, batch in enumerate(reversed(found.batches[-_BATCHES:])):
        yield "batches" if position == 0 else "", _batch(batch)
    for operator in found.operators:
        yield from _operator(operator, found.sizes[operator.number], counted.get(operator.number))
    if newest is not None:
        yield "fixed", _fixed(found)
    for waiting in found.own.waiting if found.own is not None else ():
        yield "output", _waits(waiting)
    for note in found.notes:
        yield "note", note
    if found.operators and newest is not None:
        first = found.operators[0].number
        yield (
            "look inside",
            f"streamproof inspect {found.path} --operator {first}      --where, --limit, --batch, --json, --csv, --parquet",
        )


def _whose(own: Own) -> str:
    identity, newest = own.identity, own.newest
    named = identity or newest
    if named is None:
        return "Streamproof; its incarnation and its manifests are gone or torn"
    version = newest.version if newest is not None and newest.version else identity.version if identity is not None else ""
    parts = [f"job {named.job}, query {named.query}", f"Streamproof {version}" if version else ""]
    if newest is not None:
        parts.append(f"{words.number(newest.counts.get('total.input', 0))} records so far")
    return " · ".join(filter(None, parts))


def _read(found: Inspection, number: int, read: ReadTo) -> str:
    if read.kind == NONE_YET:
        return "nothing yet"
    if read.kind == FILES:
        entries = found.logs.files.get(found.logs.folder(number), {})
        known = [entries[entry] for entry in sorted(entries) if entry <= read.positions["log"] and entries[entry]]
        newest = f", the newest {path_of(known[-1][-1].path).rpartition('/')[2]}" if known else ""
        return f"{words.counted(files_in(found.logs, number), 'file')}{newest}"
    if read.kind == OTHER:
        return read.text
    if read.kind == SECONDS:
        return f"{words.counted(read.positions['rate'], 'second')} of the rate source"
    places = [f"{place} {words.number(end)}" for place, end in read.positions.items()]
    more = f" and {len(places) - _POSITIONS} more" if len(places) > _POSITIONS else ""
    return " · ".join(places[:_POSITIONS]) + more


def _batch(batch: Batch) -> str:
    came = [words.counted(sum(batch.records.values()), "record")] if batch.records else []
    came += [words.counted(sum(batch.files.values()), "file")] if batch.files else []
    mark = f"watermark {_day_time(batch.watermark_ms)}" if batch.watermark_ms else "no watermark"
    state = "" if batch.committed else " · not committed"
    return f"{batch.number:>5}  planned {_day_time(batch.planned_ms)}  {mark}  {' · '.join(came)}{state}".rstrip()


def _operator(operator: Operator, sizes: tuple[StoreSize, ...], counted: Mapping[int, int] | None) -> Iterator[tuple[str, str]]:
    kind = kind_of(operator.name)
    rows = _rows(operator, sizes) if counted is None else sum(counted.values())
    parts = [
        f"{kind.word}{_keys(operator)}",
        words.counted(rows, kind.row) if rows is not None else "",
        size_of(sum(size.bytes for size in sizes)),
    ]
    yield f"operator {operator.number}", "   ".join(filter(None, parts))
    partitions: dict[int, int] = {}
    for size in sizes:
        partitions[size.store.partition] = partitions.get(size.store.partition, 0) + size.bytes
    if len(partitions) > 1:
        largest = sorted(partitions, key=lambda number: (-(counted or {}).get(number, 0), -partitions[number], number))
        shown = " · ".join(_partition(number, partitions[number], counted) for number in largest[:_PARTITIONS])
        rest = f" · {len(largest) - _PARTITIONS} smaller" if len(largest) > _PARTITIONS else ""
        yield "", f"by partition  {shown}{rest}"
    for variable, type_ in operator.variables.items():
        if not variable.startswith("$"):
            schema = next((one for one in operator.schemas if one.name == variable), None)
            yield "", f"variable {variable}  {type_.removesuffix('State').lower()}{_value(schema)}"


def _rows(operator: Operator, sizes: tuple[StoreSize, ...]) -> int | None:
    """The rows, where the state's files say them: of a join each is in one store, and the number of rows of its key in another."""
    found = [size.rows for size in sizes]
    return sum(row for row in found if row is not None) if found and None not in found and len(operator.schemas) == 1 else None


def _partition(number: int, size: int, counted: Mapping[int, int] | None) -> str:
    rows = "" if counted is None else f"{words.counted(counted.get(number, 0), 'row')} "
    return f"{number}: {rows}{size_of(size)}"


def _keys(operator: Operator) -> str:
    schema = next(iter(operator.schemas), None)
    if schema is None or operator.variables or len(operator.schemas) > 1:
        return ""
    names = ["window end" if column.name == _WINDOW_END else column.name for column in schema.key if column.name != "key"]
    return f" ({', '.join(names)})" if names else ""


def _value(schema: Schema | None) -> str:
    return "" if schema is None else f" of {', '.join(f'{column.name} {column.type}' for column in schema.value)}"


def _fixed(found: Inspection) -> str:
    settings = found.settings
    provider = settings.get(STORES, "").rpartition(".")[2]
    delays = sorted(
        {column.delay_ms for one in found.operators for schema in one.schemas for column in schema.key if column.delay_ms}
    )
    count = settings.get(PARTITIONS)
    parts = [
        words.counted(int(count), "state partition") if count and count.isdigit() and found.operators else "",
        _PROVIDERS.get(provider, provider) if found.operators else "",
        *(f"watermark {words.span(delay / 1000)} late" for delay in delays),
        f"{words.counted(len(settings), 'setting')} of Spark (--json lists them)",
    ]
    return " · ".join(filter(None, parts))


def _waits(waiting: Waiting) -> str:
    where = f"{waiting.output}  {waiting.connector} {masked(waiting.place)}"
    if waiting.batches is None:
        return f"{where}  only the store can say what it has"
    published = f"published up to batch {waiting.published}" if waiting.published is not None else "nothing is published"
    left = waiting.batches
    if not left:
        return f"{where}  {published}, nothing waits"
    which = f"batch {left[0]} waits" if len(left) == 1 else f"batches {left[0]} to {left[-1]} wait, {len(left)} of them"
    return f"{where}  {published}, {which}"


def size_of(count: int) -> str:
    """Bytes as people read them: 1234567 is "1.2 MB"."""
    size, unit = float(count), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{count} B" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def age(milliseconds: int, now: datetime) -> str:
    """How long ago an instant was: "2 min 10 s ago", "3 days ago"."""
    seconds = now.timestamp() - milliseconds / 1000
    if seconds < 0:
        return "in the future by this machine's clock"
    days = int(seconds // 86_400)
    return f"{words.counted(days, 'day')} ago" if days else f"{words.span(seconds)} ago"


def _day_time(milliseconds: int) -> str:
    try:
        moment = from_micros(milliseconds * 1_000)
    except (ValueError, OverflowError, OSError):
        return "out of range"
    return f"{moment:%Y-%m-%d} {words.instant(milliseconds * 1_000)}"
