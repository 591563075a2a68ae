"""The tables of one query: read when they are due, kept in versions, and which version each batch uses, fixed before its work (R32)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.config import TableConfig
from streamproof.connectors.lookups import read_table, reading
from streamproof.core.clock import monotonic_seconds
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import CheckpointError, DataError, JobDefinitionError, StreamproofError, TornCheckpoint
from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.journal.manifests import FOLDER
from streamproof.runtime.tables.conditions import Rejected, Ruled
from streamproof.runtime.tables.copies import Copies, Version
from streamproof.runtime.tables.fitness import require_fit
from streamproof.runtime.tables.pins import Pins
from streamproof.runtime.watching.events import QueryEvents, RuleRejected, TableRead, TableStays
from streamproof.stream.looked_up import Conditions, TableRows, Use

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from streamproof.runtime.journal.journal import Journal

_NO_BATCH = -1
_SWEEP_EVERY = 20
"""After so many batches it is looked which versions nothing names any more."""


@dataclass
class KeptTable:
    """One table.

    Parameters
    ----------
    uses
        What the job takes from it.
    planned
        The columns that it had when the query was planned.
    newest
        Of the versions that are kept, the one that batches to come use.
    read_at
        By the monotonic clock, when it was read last.
    conditions
        What of it are conditions over the columns of the stream.
    rejected
        The rules that were rejected when it was read last.
    trouble
        Why it could not be read then, or rows not be looked up in it; empty where all was well.
    """

    name: str
    config: TableConfig
    uses: Sequence[Use]
    copies: Copies
    planned: "StructType"
    newest: Version
    read_at: float
    conditions: Conditions | None = None
    trouble: str = ""
    rejected: Sequence[Rejected] = ()

    @property
    def due(self) -> bool:
        """Whether it is to be read again before the next batch."""
        refresh = self.config.refresh
        return refresh is not None and monotonic_seconds() - self.read_at >= refresh.total_seconds()


@dataclass
class QueryTables:
    """The tables that the query of a job looks rows up in.

    Spark asks for a version in the thread of the query, while it plans a batch: then a table that is due is read again, and the versions of the
    batch are fixed. What is raised there is kept in `failed`, since Spark says of it only that Python has raised something.
    """

    spark: "SparkSession"
    journal: "Journal"
    events: QueryEvents
    run: str
    configs: Mapping[str, TableConfig]
    uses: Sequence[Use]
    tables: dict[str, KeptTable] = field(default_factory=dict)
    failed: Callable[[Exception], None] = lambda _: None
    _fixed: dict[int, Mapping[str, str]] = field(default_factory=dict)
    _swept: int | None = None

    def __post_init__(self) -> None:
        self._pins = Pins(self.journal.storage, self.journal.manifests)

    def rows(self, name: str, conditions: Conditions | None = None) -> TableRows:
        """A table as a streaming plan has it: each batch reads the version that is its own.

        It is read as it is now, when it is asked for first; a batch that was interrupted has the version that was fixed for it all the same.

        Raises
        ------
        StreamproofError
            If it cannot be read, or rows cannot be looked up in it.
        """
        if name not in self.tables:
            self.tables[name] = self._first(name, conditions)
        table = self.tables[name]
        if table.conditions != conditions:
            raise JobDefinitionError(
                f"The table {name} has conditions for one step of {self.events.query}, and other ones or none for another.",
                required="Its rules are held against the columns of one stream.",
                remedy=f"Apply the rules once, or bind a second [table.NAME] to where [table.{name}] is.",
            )
        rows = _jvm.versioned_rows(self.spark, table.planned, lambda batch: self._asked(name, batch))
        return TableRows(rows, table.config.valid_from, table.config.valid_to)

    def _first(self, name: str, conditions: Conditions | None) -> KeptTable:
        """A table, read for the first time."""
        before = self.journal.logs.batches("offsets")
        batch = before[-1] + 1 if before else 0
        folder = f"{self.journal.manifests.checkpoint}/{FOLDER}/tables/{name}"
        copies = Copies(self.spark, self.journal.storage, name, folder)
        copies.remove_unfinished()
        config, uses = self.configs[name], [use for use in self.uses if use.table == name]
        former = copies.find(self._newest_pinned(name, before)) if conditions is not None else None
        ruled = None if conditions is None else Ruled(conditions, None if former is None else copies.rows(former))
        newest, rejected = copies.keep(self._read(name, config, batch), uses, self._attempt(batch), ruled)
        self.events.emit(TableRead(self.events.query, name, newest.id, newest.rows, batch))
        self._reject(name, rejected, batch)
        return KeptTable(name, config, uses, copies, newest.columns, newest, monotonic_seconds(), conditions, "", rejected)

    def _newest_pinned(self, name: str, planned: Sequence[int]) -> str:
        """The version that the newest batch used for which one was fixed; empty without any. A crash may have come before it was fixed."""
        return next((found for batch in reversed(planned) if (found := self._pins.of(batch).get(name, ""))), "")

    def _reject(self, name: str, rejected: Sequence[Rejected], batch: int) -> None:
        for one in rejected:
            self.events.emit(RuleRejected(self.events.query, name, one.rule or "", one.why, one.stays, batch))
            said = f"[table.{name}] {one.says}. It was read before batch {batch} of {self.events.query}."
            self.events.note(Note(NoteCode.RULE_REJECTED, said, about=one.rule or name))

    def noted(self, batch: int, logs: BatchLogs) -> BatchLogs:
        """What a batch was, with the versions that it has used."""
        if not self.tables:
            return logs
        return replace(logs, fingerprint=replace(logs.fingerprint, tables=dict(self._of(batch))))

    def prune(self, batch: int) -> None:
        """Removes the versions that no batch which could be done again uses, from time to time."""
        if not self.tables or (self._swept is not None and batch - self._swept < _SWEEP_EVERY):
            return
        self._swept = batch
        kept = self.journal.manifests.batches()
        oldest = min(kept[0] if kept else batch, batch)
        self._fixed = {number: found for number, found in self._fixed.items() if number >= oldest}
        for number in self._pins.batches():
            if number < oldest:
                self._pins.remove(number)
        for table in self.tables.values():
            others = [id_ for id_ in table.copies.ids() if id_ != table.newest.id]
            if not others:
                continue
            named = {self._pins.of(number).get(table.name) for number in {*self._pins.batches(), *kept}}
            for id_ in others:
                if id_ not in named:
                    table.copies.remove(id_)

    def _asked(self, name: str, batch: int) -> tuple[int, str]:
        """The bytes and the folder of the version that a batch uses, as Spark asks for them."""
        try:
            version = self._version(name, batch)
        except Exception as problem:
            self.failed(problem)
            raise
        return version.size, version.folder

    def _version(self, name: str, batch: int) -> Version:
        table = self.tables[name]
        id_ = table.newest.id if batch == _NO_BATCH else self._of(batch)[name]
        if id_ == table.newest.id:
            return table.newest
        found = table.copies.find(id_)
        if found is None:
            raise TornCheckpoint(
                f"The copy of the version {id_} of [table.{name}] is gone, which batch {batch} has used: {table.copies.folder}/{id_}.",
                required="A batch that is done again uses the rows that it has used the first time.",
                remedy=f"Restore that folder from a backup, or let [table.{name}] hold what it held then, and start again.",
            )
        problem = unlike(table, found) or self._unfit(table, found)
        if problem:
            raise CheckpointError(
                f"Batch {batch} was interrupted, and has used the version {id_} of [table.{name}]: {problem}.",
                required="The batch is done again with the rows that it has used, by the job as it was.",
                remedy="Run the job as it was before until that batch is done, with --accept-replay where it is published; then change it.",
            )
        return found

    def _unfit(self, table: KeptTable, found: Version) -> str:
        """Why rows cannot be looked up in a version as the job asks for them now, which may be by other columns than it did; empty where they can."""
        rows = table.copies.rows(found)
        try:
            require_fit(table.name, rows, TableRows(rows, table.config.valid_from, table.config.valid_to), table.uses)
        except DataError as problem:
            return problem.message.rstrip(".")
        return ""

    def _of(self, batch: int) -> Mapping[str, str]:
        """By table the version that a batch uses; fixed now, unless it was before."""
        if batch not in self._fixed:
            known = self._pins.of(batch)
            if any(name not in known for name in self.tables):
                self._refresh(batch)
                newest = {name: table.newest.id for name, table in self.tables.items()}
                known = self._pins.fix(batch, {**newest, **known})
            self._fixed[batch] = {name: known[name] for name in self.tables}
        return self._fixed[batch]

    def _refresh(self, batch: int) -> None:
        """Reads the tables that are due; where that is not possible the former version stays, and the run says so."""
        for table in self.tables.values():
            if not table.due:
                continue
            table.read_at = monotonic_seconds()
            try:
                ruled = None if table.conditions is None else Ruled(table.conditions, table.copies.rows(table.newest))
                read = self._read(table.name, table.config, batch)
                found, rejected = table.copies.keep(read, table.uses, self._attempt(batch), ruled)
                if (other := unlike(table, found)) != "":
                    raise DataError(f"[table.{table.name}] is another: {other}.")
            except StreamproofError as problem:
                self._stays(table, problem, batch)
                continue
            table.trouble = ""
            self._reject(table.name, [one for one in rejected if one not in table.rejected], batch)
            table.rejected = rejected
            if found.id != table.newest.id:
                table.newest = found
                self.events.emit(TableRead(self.events.query, table.name, found.id, found.rows, batch))

    def _stays(self, table: KeptTable, problem: StreamproofError, batch: int) -> None:
        self.events.emit(TableStays(self.events.query, table.name, table.newest.id, problem.message, batch))
        said = (
            f"[table.{table.name}] could not be read again before batch {batch} of {self.events.query}; its version {table.newest.id} stays, "
            f"and it is tried again when it is due. {problem.message}"
        )
        if table.trouble != problem.message:  # once, however often it is tried
            self.events.note(Note(NoteCode.TABLE_STAYS, said, about=table.name))
        table.trouble = problem.message

    def _read(self, name: str, config: TableConfig, batch: int) -> TableRows:
        """A table as it is now."""
        with reading(name):
            read = read_table(self.spark, name, config.at(batch))
        if read.unread:
            said = f"[table.{name}] has {read.unread:,} records that cannot be read, and are left out: what is known of their keys stays."
            if said not in self.events.notes:
                self.events.note(Note(NoteCode.TABLE_STAYS, said, about=name))
        return read

    def _attempt(self, batch: int) -> str:
        return f"{batch:06d}-{self.run}"


def unlike(table: KeptTable, found: Version) -> str:
    """What of a version does not fit the columns that the query was planned with, in words; empty where it does."""
    planned, there = (
        {column.name: column.dataType.simpleString() for column in columns.fields} for columns in (table.planned, found.columns)
    )
    needed = dict.fromkeys(name for name in (table.config.valid_from, table.config.valid_to) if name)
    for use in table.uses:
        needed |= dict.fromkeys((*use.key, *(planned if use.columns is None else use.columns)))
    for name in needed:
        if name not in there:
            return f"it has no column {name}, which the job takes from it"
        if there[name] != planned.get(name, there[name]):
            return f"its column {name} is {there[name]}, and was {planned[name]} when the job was planned"
    return ""
