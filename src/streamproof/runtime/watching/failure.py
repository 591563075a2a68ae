"""Where a run has failed, as far as it is known: for people, logs, pages and other systems. No value of a row and no password is in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

NOT_KNOWN = "not known"
PAGE = "docs/reference/codes.md"
"""The page of the codes; the row of an error is its part `error-CODE`."""
_SHOWN_READS = 8
_SHOWN_FILES = 3


@dataclass(frozen=True)
class Read:
    """What a batch reads of one source: of a partition of a topic the offsets from `start` up to `end`, of folders the files.

    Parameters
    ----------
    partition
        None of files.
    start
        The first offset; None where the batch is the first, and begins where the source does.
    end
        The offset after the last.
    files
        The names of the first files, without their folders.
    of_files
        How many there are.
    """

    source: str
    topic: str = ""
    partition: int | None = None
    start: int | None = None
    end: int | None = None
    files: tuple[str, ...] = ()
    of_files: int = 0

    @property
    def said(self) -> str:
        if self.partition is None:
            more = self.of_files - len(self.files[:_SHOWN_FILES])
            return (
                f"{self.source}: {', '.join(self.files[:_SHOWN_FILES]) or 'no file'}{f' and {more:,} files more' if more else ''}"
            )
        begin = "the beginning" if self.start is None else str(self.start)
        return f"{self.source}: {self.topic}-{self.partition} from {begin} to {self.end}"


@dataclass(frozen=True)
class Where:
    """The part of a job that an error came up in. What is not certain is empty.

    Parameters
    ----------
    step
        The call that asked for the operator, such as "transform(rate) in job.py line 12" or "require()".
    output
        The output, or one of its sinks.
    function
        The function of the user's that raised it.
    line
        Where that stands, such as "job.py line 7".
    sql
        The text of the expression.
    """

    step: str = ""
    output: str = ""
    function: str = ""
    line: str = ""
    sql: str = ""

    @property
    def said(self) -> str:
        function = f"{self.function} ({self.line})" if self.function and self.line else self.function or self.line
        parts = (self.step, f"output {self.output}" if self.output else "", function, self.sql)
        return ", ".join(part for part in parts if part) or NOT_KNOWN


@dataclass(frozen=True)
class Stopped:
    """Where a query was ended because another one of its job had died.

    Parameters
    ----------
    after
        The newest batch that it has committed; None where it has none.
    in_batch
        The batch that was interrupted, since it took too long; None where the query was ended between two.
    then
        What becomes of that batch.
    code
        The code of the error that this query had died of by itself meanwhile; empty as a rule.
    """

    query: str
    after: int | None = None
    in_batch: int | None = None
    then: str = ""
    code: str = ""

    @property
    def said(self) -> str:
        after = "before its first batch" if self.after is None else f"after batch {self.after}"
        if self.code:
            return f"query {self.query} {after}: it had died too [{self.code}]"
        if self.in_batch is None:
            return f"query {self.query} {after}"
        return f"query {self.query} in the middle of batch {self.in_batch}: {self.then.rstrip('.')}"


@dataclass(frozen=True)
class Failure:
    """Why a run has stopped, with what is around it.

    Parameters
    ----------
    query, batch
        Empty, and None, where it was in none.
    reads
        What that batch reads.
    sample
        Of a record at fault, by column, what it has there: "text of 7 characters". Empty where no record is, or none is known.
    cause
        The innermost error that says something, in one sentence.
    next
        What to do.
    page
        Where its code is explained.
    ended
        The other queries of the job, which were ended because this one had died.
    """

    job: str
    query: str = ""
    batch: int | None = None
    reads: tuple[Read, ...] = ()
    where: Where = Where()
    sample: Mapping[str, str] = field(default_factory=dict)
    cause: str = ""
    next: str = ""
    page: str = ""
    ended: tuple[Stopped, ...] = ()

    def lines(self, told: str = "") -> Iterator[tuple[str, str]]:
        """What is beside the error itself: a word and what it is, such as ("reads", "trades: trades-0 from 100 to 200"); not what was `told`."""
        if self.query:
            yield "in", f"query {self.query}, {'batch not known' if self.batch is None else f'batch {self.batch}'}"
            yield "where", self.where.said
        for read in self.reads[:_SHOWN_READS]:
            yield "reads", read.said
        if len(self.reads) > _SHOWN_READS:
            yield "reads", f"{len(self.reads) - _SHOWN_READS:,} partitions more"
        if self.sample:
            yield "record", ", ".join(f"{name}: {shape}" for name, shape in self.sample.items())
        if self.cause and self.cause != told and self.cause not in told:
            yield "cause", self.cause
        for stopped in self.ended:
            yield "ended", stopped.said
        if self.page:
            yield "read on", self.page
