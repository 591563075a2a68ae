"""What a run did: its outputs, the accounts of its queries, what is still open."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from streamproof.core.account import Account
from streamproof.core.ends import End
from streamproof.core.notes import Note
from streamproof.core.opened import Opened
from streamproof.core.plain import plain_fields

if TYPE_CHECKING:
    from streamproof.connectors.lag import PartitionLag
    from streamproof.runtime.watching.leaps import Leap


@dataclass(frozen=True)
class OutputResult:
    """An output of a run: where it went, its format, rows published by this run, its guarantee, and reasons with their counts."""

    name: str
    where: str
    format: str
    rows: int
    guarantee: str
    reasons: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryAccount:
    """The account of one query since its checkpoint began; `input` counts its records, `expanded` their further windows and joined rows.

    Where windows overlap, a record counts once for each of its windows, and where rows of a join go on, once for each of these: input + expanded
    is what the places add up to.

    `duplicates_in` is the output that duplicates are rows of, where the job returns one, and `duplicates_written` how many are: a checkpoint can
    be older than that output.

    `open` is how many windows may still change, how many keys of a deduplication by an order wait for their row, or how many rows of a join for a
    partner (`open_are` is "window", "key" or "row"); `open_until` the watermark at which the last of them is over.

    `unknown_since` is the batch from which it is not known, since a manifest was lost or a replay accepted; None where it is known.
    """

    query: str
    input: int
    account: Account
    unknown_since: int | None = None
    expanded: int = 0
    duplicates_in: str = ""
    duplicates_written: int = 0
    open: int = 0
    open_until: datetime | None = None
    open_are: Opened = Opened.WINDOW

    @property
    def wanted(self) -> int:
        """How many (record, window) pairs the places must add up to."""
        return self.input + self.expanded

    @property
    def adds_up(self) -> bool:
        return self.wanted == self.account.total

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, and whether the account adds up."""
        return {**plain_fields(self), "adds_up": self.adds_up}


@dataclass(frozen=True)
class RunResult:
    """What a run did. `account` and `account_input` are those of the first query; `accounts` has all.

    `batches` counts those `without_input` too: Spark runs one when the watermark has gone on, to close windows. `lag` has the partitions
    of the topics that are read. `open_windows` counts those of all queries, and `closes_after` is the latest end of one. `leaps` has of each
    query whose watermark leapt the furthest leap. `end` says whether it was asked to end: there may be more to read then.
    """

    job: str
    batches: int
    without_input: int
    rows_in: int
    seconds: float
    outputs: list[OutputResult]
    account: Account
    account_input: int
    open_windows: int
    closes_after: datetime | None
    notes: list[Note]
    accounts: list[QueryAccount]
    lag: list["PartitionLag"] = field(default_factory=list)
    leaps: list["Leap"] = field(default_factory=list)
    end: End = End.DONE

    @property
    def ended_early(self) -> bool:
        return self.end is End.INTERRUPTED

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values, ready for JSON: what `streamproof run --json` prints."""
        return {**plain_fields(self), "ended_early": self.ended_early, "note_codes": [str(note.code) for note in self.notes]}
