"""What is held against a PySpark job: its input is read once, and its outputs are those of a run without a fault over the same batches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from streamproof.prove.artifacts.comparing import without_partners
from streamproof.prove.artifacts.float_order import only_rounded
from streamproof.prove.checkers import CannotTell, CheckResult, Finding, run_checker
from streamproof.prove.subjects.pyspark.identity import Left as Why
from streamproof.prove.subjects.pyspark.memory import IN_MEMORY
from streamproof.prove.subjects.pyspark.reading import NAMELESS, Left, Output, Row, input_of
from streamproof.prove.subjects.pyspark.reference import Batches, NoReference
from streamproof.prove.subjects.pyspark.told import Query
from streamproof.prove.subjects.pyspark.unread import why_unread

EARLY = "offsets-before-the-write"
"""The page below docs/incidents that tells why rows that were read never come."""
_SHOWN = 5
_SHARE = 0.9
"""The share of whole events that must reach the job. A reader may leave out a few that do not fit its schema."""
_COLUMNS = 6
_LONGEST = 60


class Code(StrEnum):
    """What is found here."""

    CHECKPOINT_CHANGES = "checkpoint-changes"
    CHECKPOINT_MISSING = "checkpoint-missing"
    CHECKPOINT_DELETED = "checkpoint-deleted"
    CHECKPOINT_SHARED = "checkpoint-shared"
    ROWS_MISSING = "rows-missing"
    ROWS_TOO_MANY = "rows-too-many"
    NOT_OFFERED = "not-offered"
    OFFERED_AGAIN = "offered-again"
    DAMAGED_FILE = "damaged-file"
    NO_ROW = "no-row"
    PUBLISHED_AGAIN = "published-again"
    OTHER_VALUE = "other-value"
    LOST = "lost"
    UNEXPECTED = "unexpected"
    MORE_OF_THEM = "more-of-them"


@dataclass(frozen=True)
class Evidence:
    """What a scenario has left, what a run without a fault leaves over the same batches, and what was offered.

    Parameters
    ----------
    expected
        Gives, for the batches of all queries, what the fault-free run has left whose batches are the same in one of them, or in all
        (None); raises NoReference.
    files
        By input the names of all files that were offered.
    masked
        Whether values of rows are left out of findings.
    kept
        What the job keeps in memory, in words; empty where its text shows nothing.
    unread
        The queries whose own function writes where no proof looks.
    events
        By input how many events were offered, and how many of these are spoilt on purpose.
    """

    left: Left
    expected: Callable[[Batches, str | None], Left]
    files: Mapping[str, Sequence[str]]
    masked: bool = False
    kept: str = ""
    unread: Sequence[Query] = ()
    events: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def read_again(self) -> bool:
        return False


def checks_of(evidence: Evidence) -> list[CheckResult]:
    """What every check says."""
    return [run_checker(name, check, evidence) for name, check in (("intake", intake), ("exactly-once", exactly_once))]


def intake(evidence: Evidence) -> Iterator[Finding]:
    """Every file that was offered is in one batch of each query that reads its input (R22), whichever checkpoints the query has had."""
    yield from _shared(evidence)
    yield from _began_again(evidence)
    yield from _other_rows(evidence)
    for query, batches in evidence.left.batches.items():
        sources = {source for batch in batches if batch.has_data for source in batch.files}
        for source in sorted(sources):
            if source.startswith(NAMELESS):
                yield from _read_nothing(evidence, query, source, sources)
                continue
            read = [file for batch in batches for file in batch.files.get(source, ())]
            for file in evidence.files[input_of(source)]:
                if read.count(file) != 1:
                    how = "is in no batch" if file not in read else f"is in {read.count(file)} batches"
                    code = Code.NOT_OFFERED if file not in read else Code.OFFERED_AGAIN
                    what = f"the file {file} of the input {input_of(source)} {how} of the query {query}"
                    yield Finding(code, None, what, expected="one", found=how)


_LEFT = {
    Why.CHANGED: (Code.CHECKPOINT_CHANGES, "its checkpoint was {was} before the crash, and is {now} after it"),
    Why.NONE: (Code.CHECKPOINT_MISSING, "it names no checkpoint, so Spark takes a new temporary folder at each start"),
    Why.DELETED: (Code.CHECKPOINT_DELETED, "the job deletes its checkpoint {was} when it starts"),
}


def _began_again(evidence: Evidence) -> Iterator[Finding]:
    """A query that has left its checkpoint, and reads again what it had committed there."""
    for left in evidence.left.abandoned:
        batches = evidence.left.batches.get(left.query, ())
        read = {(input_of(source), file) for batch in batches for source, files in batch.files.items() for file in files}
        again = sorted(file for name, files in left.files.items() for file in files if (name, file) in read)
        if again:
            code, why = _LEFT[left.why]
            files = f"{len(again)} file{'s' if len(again) > 1 else ''}"
            yield Finding(
                code,
                None,
                f"the query {left.query} began from nothing after the crash: it reads {files} again that it had committed",
                expected="it goes on after its last committed batch",
                found=why.format(was=left.was, now=left.now),
            )


def _other_rows(evidence: Evidence) -> Iterator[Finding]:
    """An input whose reader gives far fewer rows than there are events, or more: its options do not fit the files."""
    for name, (rows, with_spoilt) in evidence.left.rows_in.items():
        offered, spoilt = evidence.events.get(name, (rows, 0))
        most, least = offered if with_spoilt else offered - spoilt, offered - spoilt
        if rows > most or rows < least * _SHARE:
            code, how = (Code.ROWS_TOO_MANY, "more rows") if rows > most else (Code.ROWS_MISSING, "far fewer rows")
            yield Finding(
                code,
                None,
                f"the job's reader of {name} gives {how} than there are events",
                expected=f"{most:,} events",
                found=f"{rows:,} rows: look at the options of the reader (format, header, sep, multiLine, mode, schema), and at the sample",
            )


def _shared(evidence: Evidence) -> Iterator[Finding]:
    for one, other, place in evidence.left.sharing:
        what = f"the queries {one} and {other} share the checkpoint {place}: what one of them has read the other takes for read"
        yield Finding(Code.CHECKPOINT_SHARED, None, what, expected="a checkpoint for each query", found=f"one for both, {place}")


def _read_nothing(evidence: Evidence, query: str, source: str, sources: set[str]) -> Iterator[Finding]:
    """The finding for a source that has read no file: its log does not say which input it reads, one of those that no other one reads."""
    others = {input_of(other) for other in sources}
    may_be = [name for name in evidence.files if name not in others] or list(evidence.files)
    if all(evidence.files[name] for name in may_be):
        how = "is in no batch"
        what = f"no file of the input {' or '.join(may_be)} is in a batch of the query {query}, for its {source}"
        yield Finding(Code.NOT_OFFERED, None, what, expected="one", found=how)


def exactly_once(evidence: Evidence) -> Iterator[Finding]:
    """The rows of every output are those of a run without a fault over the same batches, batch by batch where the output says which."""
    for number, finding in enumerate(_other_outputs(evidence)):
        yield replace(finding, how=evidence.kept, page=IN_MEMORY) if evidence.kept and number == 0 else finding


def _other_outputs(evidence: Evidence) -> Iterator[Finding]:
    unread = [why_unread(query) for query in evidence.unread]
    for output in evidence.left.outputs:
        for damage in output.damaged:
            yield Finding(Code.DAMAGED_FILE, None, f"a file of the output {output.name} cannot be read: {damage}")
        reference = _reference(evidence, output.name, output.query.name if output.query else None)
        expected = next((other for other in reference.outputs if other.name == output.name), None)
        why = output.unread or (expected.unread if expected is not None else "")
        if why:
            unread.append(f"The output {output.name} is not read here: {why}.")
        else:
            yield from _differences(output, expected, masked=evidence.masked)
    yield from _outputs_not_there(evidence)
    if unread:
        raise CannotTell(" ".join(unread))


def _outputs_not_there(evidence: Evidence) -> Iterator[Finding]:
    there = {output.name for output in evidence.left.outputs}
    for query in evidence.left.batches:
        for expected in _reference(evidence, query, query).outputs:
            if expected.name not in there and (expected.query is None or expected.query.name == query) and expected.count:
                what = f"the output {expected.name} has no row"
                yield Finding(Code.NO_ROW, None, what, expected=f"{expected.count:,} rows", found="none")


def _reference(evidence: Evidence, name: str, query: str | None) -> Left:
    """What a run without a fault has left over the same batches of a query; CannotTell where there is none.

    What is written beside queries (None) can come of each of them.
    """
    try:
        return evidence.expected(evidence.left.batches, query)
    except NoReference as problem:
        raise CannotTell(f"There is no run without a fault over the same batches for {name}: {problem}.") from None


def _differences(output: Output, expected: Output | None, *, masked: bool) -> Iterator[Finding]:
    mine, theirs = output.rows, expected.rows if expected is not None else {}
    if None in mine or None in theirs:
        mine, theirs = {None: _all(mine)}, {None: _all(theirs)}
    for batch in sorted({*mine, *theirs}, key=lambda number: -1 if number is None else number):
        more, missing = without_partners(list(mine.get(batch, ())), list(theirs.get(batch, ())), {})
        yield from _said(output.name, batch, more, missing, theirs.get(batch, ()), masked=masked)


def _said(
    name: str, batch: int | None, more: Sequence[Row], missing: Sequence[Row], expected: Sequence[Row], *, masked: bool
) -> Iterator[Finding]:
    """One finding for each row that is there too often, one for each that is lost, one for each that is another."""
    known = {_written(row) for row in expected}
    doubled = [row for row in more if _written(row) in known]
    other = [row for row in more if _written(row) not in known]
    of = f" of batch {batch}" if batch is not None else ""
    for row in doubled[:_SHOWN]:
        yield Finding(
            Code.PUBLISHED_AGAIN,
            None,
            f"a row of the output {name} was published again",
            batch,
            "once",
            f"{1 + doubled.count(row)} times",
            key=shown(row, masked=masked),
        )
    for mine, theirs in zip(other[:_SHOWN], missing[:_SHOWN], strict=False):
        yield Finding(
            Code.OTHER_VALUE,
            None,
            f"a row{of} of the output {name} has another value",
            batch,
            shown(theirs, masked=masked),
            shown(mine, masked=masked),
            rounded=only_rounded(
                (theirs.get(name), mine.get(name)) for name in {**theirs, **mine} if theirs.get(name) != mine.get(name)
            ),
        )
    for row in missing[len(other) :][:_SHOWN]:
        what = f"a row{of} of the output {name} is lost"
        yield Finding(Code.LOST, None, what, batch, shown(row, masked=masked), "no such row", page=EARLY)
    for row in other[len(missing) :][:_SHOWN]:
        what = f"a row{of} of the output {name} should not be there"
        yield Finding(Code.UNEXPECTED, None, what, batch, "no such row", shown(row, masked=masked))
    if max(len(doubled), len(other), len(missing)) > _SHOWN:
        what = f"{len(more):,} rows more and {len(missing):,} rows less than expected in the output {name}{of}"
        yield Finding(Code.MORE_OF_THEM, None, what, batch)


def _all(rows: Mapping[int | None, Sequence[Row]]) -> list[Row]:
    return [row for some in rows.values() for row in some]


def _written(row: Row) -> tuple[Any, ...]:
    return tuple(sorted((name, str(value)) for name, value in row.items()))


def shown(row: Row, *, masked: bool) -> str:
    """A row in words: its first columns; with `masked` their names alone."""
    columns = list(row.items())[:_COLUMNS]
    more = f" · {len(row) - _COLUMNS} more columns" if len(row) > _COLUMNS else ""
    if masked:
        return f"a row of {', '.join(name for name, _ in columns)}{more} (values are masked: --show-values)"
    return "   ".join(f"{name} {_short(value)}" for name, value in columns) + more


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
