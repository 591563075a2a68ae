"""The protocol of sinks: look up the ledger, publish once, say what is guaranteed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.connectors.steps import UNWATCHED, Steps
from streamproof.core.manifest import LedgerEntry, Manifest, Section
from streamproof.errors import RemedyAction, SinkUnavailable, StagedRowsGone, StoreEmptied, TwoDrivers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType

    from streamproof._jvm import Numbered, Storage


@dataclass(frozen=True)
class SinkPlace:
    """Where an output goes, and how to get there.

    Parameters
    ----------
    output
        Its name in the job.
    path
        Where files are published; for services a folder of their own.
    format
        How rows are staged: "parquet" or "json"; for folders also "csv" or "avro".
    connector
        As configured.
    where
        The store as people and manifests name it, without passwords: a path, "postgresql://host:5432/db/exposure".
    job, incarnation
        Whose rows they are (R1).
    steps
        Told of what becomes durable outside the checkpoint's file system.
    home
        Where rows are staged that several sinks of an output publish; empty where the sink has its output to itself, and they are staged
        below `path`.
    """

    spark: "SparkSession"
    storage: "Storage"
    output: str
    path: str
    format: str
    connector: str
    where: str
    job: str = ""
    incarnation: str = ""
    steps: Steps = UNWATCHED
    home: str = ""

    @property
    def shared(self) -> bool:
        """Whether other sinks publish the same staged rows: they are staged as the job makes them, encoded for none of them."""
        return bool(self.home)

    @property
    def staged_in(self) -> str:
        """The folder that the directories of sections lie in."""
        return self.home or self.path

    @property
    def staging(self) -> str:
        """The directory below which rows of this output are staged; no reader sees it."""
        return f"{self.staged_in}/_staging"

    def staged_rows(self, section: Section, shard: int | None = None, columns: "StructType | None" = None) -> "DataFrame":
        """The staged rows of a section, from exactly the files that the manifest names: of all, or of one of its shards.

        Their columns are those of the files, which Spark starts a job to look up where `columns` does not say them.
        """
        named = section.files if shard is None else section.files_of(shard)
        files = [f"{self.staged_in}/{section.directory}/{file.name}" for file in named]
        if not files:  # a shard whose rows are in no file: only where somebody has let a replay stand that splits them otherwise
            return self.staged_rows(section, columns=columns).limit(0)
        return _jvm.rows_of_named(self.spark, self.format, files, columns=columns)


class Sink(ABC):
    """Makes staged rows visible. Subclass it for a sink of your own and bind it as connector = "file.py:Class".

    `publish` must make the rows and the ledger entry visible together or not at all, and do nothing where the entry is there;
    a sink that cannot do that has to say so in `guarantee`.
    """

    guarantee = "not declared"
    exactly_once = True
    """Whether every row is in the store once, whatever happens; a claim of the configuration is held against it (K8)."""
    shards = 1
    """In how many parts a batch is published, each with a ledger entry of its own."""
    clearable = True
    """Whether `run --replace-output` can empty it."""
    listed = False
    """Whether what is published lies in directories with names, one a batch; a store of another kind notices by itself what it has lost."""
    may_lag = False
    """Whether the job goes on while the store is down: batches wait with their manifests (R8)."""

    def __init__(self, place: SinkPlace) -> None:
        self.place = place
        self._staged_columns: dict[str, StructType] = {}

    @classmethod
    def guarantee_of(cls, config: Any) -> str:
        """What it keeps, in words, where it is configured so."""
        return cls.guarantee

    def at(self, path: str) -> "Sink":
        """The same sink in another folder."""
        return type(self)(replace(self.place, path=path))

    @abstractmethod
    def published(self, batch: int) -> LedgerEntry | None:
        """The ledger entry of a batch, or None where nothing of it is published."""

    def entries(self, batch: int) -> Sequence[LedgerEntry]:
        """The ledger entries of a batch: one for each shard that is published."""
        found = self.published(batch)
        return () if found is None else (found,)

    def complete(self, manifest: Manifest, section: Section) -> bool:
        """Whether every shard of a section is published."""
        return self.published(manifest.batch) is not None

    def begun(self, batch: int) -> bool:
        """Whether anything of a batch may be visible, or have had an effect (R4): more than `published` where no transaction holds it."""
        return bool(self.entries(batch))

    def fence(self, manifest: Manifest, section: Section) -> None:
        """Sees to it that nobody who still publishes this manifest can finish: it is about to be discarded (R4, R6).

        Where something of it is published already, that stays; ask `begun` afterwards.

        Raises
        ------
        SinkUnavailable
            If the store cannot be asked: the manifest must stay then.
        """
        return

    def unfence(self, manifest: Manifest) -> None:
        """Takes a fence back: another output has begun the batch, so that the manifest stays, and is to be published here too."""
        return

    @abstractmethod
    def publish(self, manifest: Manifest, section: Section) -> None:
        """Makes the rows of a section visible, once.

        Raises
        ------
        SinkError
            If the store cannot be written.
        StagedRowsGone, TwoDrivers
            If what the manifest names is not there any more, or another manifest published this batch.
        """

    def owner(self) -> LedgerEntry | None:
        """The newest ledger entry found at the output, one of this checkpoint where there is any; tells whose output it is (R1).

        A store that may lose what it has taken remembers the batch: it must still be there when the next one is published.
        """
        return None

    def contents(self) -> Iterable[tuple[int | None, Mapping[str, Any]]] | None:
        """What readers of the store see, for a proof: each row with the batch that published it, where that is known; instants as ISO texts.

        None where it lies in files, `batch=N/` below `place.path`. Announce what the store makes durable to `place.steps`: a proof
        crashes there, too.
        """
        return None

    def require(self, columns: "StructType") -> None:
        """Looks, before the first batch, whether the store takes rows with these columns.

        Raises
        ------
        SinkError, ConfigurationError
            If it does not, with what is missing.
        """
        return

    def settle(self, columns: "StructType") -> None:
        """Settles, before the first batch, how rows with these columns are encoded: a schema that they are written by is registered here.

        Raises
        ------
        ConfigurationError, RegistryError
            If they cannot be written so, or nobody says by which id.
        """
        return

    def encoded(self, rows: "DataFrame") -> "DataFrame":
        """The rows as they are staged: what can be done to each alone is done by all tasks side by side, before one publishes."""
        return rows

    def streamed(self, rows: "DataFrame") -> "DataStreamWriter":
        """A writer that sends each row while its batch still runs; asked where the configuration takes rows at once, and at least once."""
        raise NotImplementedError(f"{self.place.connector} takes no rows while their batch runs")

    def staged(self, section: Section, shard: int | None = None) -> "DataFrame":
        """The staged rows of a section, or of one of its shards, encoded for this sink."""
        of_run = section.directory.rpartition("-")[2]  # all that one start has staged of an output has the same columns
        rows = self.place.staged_rows(section, shard, self._staged_columns.get(of_run))
        if self.place.format == "parquet":
            self._staged_columns[of_run] = rows.schema
        return self.encoded(rows) if self.place.shared else rows

    def require_clearable(self) -> None:
        """Raises what `clear` would be refused for. Asked of every output before the first one is emptied."""
        return

    def clear(self) -> None:
        """Deletes what the output holds and its ledger: `run --replace-output`."""
        for name in self.place.storage.list(self.place.path):
            if name.startswith("batch=") or name == "_staging":
                self.place.storage.delete(f"{self.place.path}/{name}")
        if self.place.shared:
            self.place.storage.delete(self.place.staging)

    def prepare(self, manifest: Manifest, section: Section) -> None:
        """Optional work before publishing, repeatable at will."""
        return

    def staged_whole(self, section: Section) -> bool:
        """Whether every staged file that the section names is there with its size."""
        there = self.place.storage.list(f"{self.place.staged_in}/{section.directory}")
        return all(there.get(file.name) == file.size for file in section.files)

    def has_staged(self, batch: int) -> bool:
        """Whether anything is staged of a batch; whether it is whole is seen when it is published."""
        return any(name.startswith(f"{batch:06d}-") for name in self.place.storage.list(self.place.staging))

    def mend(self, manifest: Manifest, section: Section) -> str | None:
        """Puts right what a power failure has left of a publication that Spark has not committed; says what it did, None if nothing.

        Afterwards the section is published whole, or not published at all. Called at the start, before anything is published;
        sinks whose store publishes in a transaction have nothing to do.
        """
        return None

    def torn(self, batch: int, section: Section | None) -> str | None:
        """What is torn of the publication of a batch, in words; None where it is whole, its owner has rewritten it, or it is not published.

        What is published vouches for itself (R26): `section`, what the manifest says of it, is asked only where the ledger does not name its
        files.
        """
        return None

    def take_back(self, batch: int) -> None:
        """Removes what is published of a batch and torn; it is computed again, and published again."""
        return

    def batches(self) -> Collection[int]:
        """The batches that are there, as far as their names tell; for sinks that are `listed`."""
        return ()

    def counted(self, last: int) -> "Numbered":
        """What the numbers of the batches up to `last` add up to; for sinks that are `listed`."""
        from streamproof._jvm import Numbered

        there = [batch for batch in self.batches() if batch <= last]
        return Numbered(len(there), sum(there), min(there, default=-1), max(there, default=-1))

    def abort(self, directory: str) -> None:
        """Removes staged rows that no manifest names."""
        self.place.storage.delete(f"{self.place.staged_in}/{directory}")


class LaggingSink(Sink):
    """What the sinks of services share: their store may be down while the job goes on, a manifest be lost meanwhile and made again."""

    may_lag = True

    def complete(self, manifest: Manifest, section: Section) -> bool:
        return stands(self.entries(manifest.batch), manifest, section)


def entry_of(manifest: Manifest, section: Section) -> LedgerEntry:
    """The ledger entry of a section; one shard is the default."""
    return LedgerEntry(
        job=manifest.job,
        output=section.output,
        incarnation=manifest.incarnation,
        batch=manifest.batch,
        shard=0,
        manifest=manifest.id,
        fingerprint=manifest.fingerprint.hash,
        rows=section.digest.rows,
        hash=section.digest.hash,
        shards=section.shards,
    )


def stands(found: Sequence[LedgerEntry], manifest: Manifest, section: Section) -> bool:
    """Whether ledger entries say that a section is published whole: by its manifest, or by an equal one that was lost (R3)."""
    if not found:
        return False
    one = found[0]
    mine = one.manifest == manifest.id
    whole = {entry.shard for entry in found} >= set(range(section.shards if mine else one.shards))
    return whole and all(entry.manifest == one.manifest for entry in found) and (mine or says_the_same(one, manifest, section))


def says_the_same(found: LedgerEntry, manifest: Manifest, section: Section) -> bool:
    """Whether a ledger entry was written for the same input and the same rows, by whichever manifest."""
    mine = entry_of(manifest, section)
    return replace(found, manifest=mine.manifest, shard=mine.shard, shards=mine.shards) == mine


def same_manifest(found: LedgerEntry, manifest: Manifest, section: Section) -> None:
    """TwoDrivers if the ledger entry comes from another manifest than this one (R7)."""
    if (found.manifest, found.output) != (manifest.id, section.output):
        raise _other_publication(found, manifest, section)


def same_publication(found: LedgerEntry, manifest: Manifest, section: Section) -> None:
    """TwoDrivers if a shard was published by another manifest than this one (R7), unless it is the whole batch, and equal (R3).

    A manifest that is lost while its store cannot be asked is made again under another id; the rows are the same.
    """
    whole = found.shards == section.shards == 1
    if not (whole and says_the_same(found, manifest, section)):
        same_manifest(found, manifest, section)


def _other_publication(found: LedgerEntry, manifest: Manifest, section: Section) -> TwoDrivers:
    equal = says_the_same(found, manifest, section)
    parts = f" in {found.shards} parts" if found.shards > 1 else ""
    differ = (
        "which of them are in which part is not known" if equal else f"this driver staged {section.digest.rows:,}, and not the same"
    )
    if found.fingerprint != manifest.fingerprint.hash:
        differ = "it read other input, or had another watermark"
    return TwoDrivers(
        f"Batch {manifest.batch} of {section.output} was published by the manifest {found.manifest[:8]} with {found.rows:,} rows{parts}; "
        f"this is {manifest.id[:8]}: {differ}.",
        required="One driver works on a checkpoint at a time, and a batch that runs again computes the same.",
        remedy="Stop the other driver if there is one, then run again. "
        + (
            "Else restore the manifests of the checkpoint from a backup, or start over with a new checkpoint and a new output."
            if found.fingerprint != manifest.fingerprint.hash
            else f"To go on with what is published: run --accept-replay {manifest.batch}"
        ),
    )


def for_each_shard(section: Section, publish: Callable[[int], None]) -> None:
    """Publishes every shard of a section, side by side; raises what the first of them raised, once all have ended."""
    if section.shards == 1:
        publish(0)
        return
    with ThreadPoolExecutor(section.shards, thread_name_prefix="shard") as side_by_side:
        list(side_by_side.map(publish, range(section.shards)))


def rows_of(section: Section, shard: int, staged: "DataFrame") -> int:
    """How many rows a shard has, by its manifest; where that does not say it of each file, as many as are staged."""
    if section.shards == 1:
        return section.digest.rows
    digests = [file.digest for file in section.files_of(shard)]
    counted = [digest.rows for digest in digests if digest is not None]
    return sum(counted) if len(counted) == len(digests) else staged.count()


def require_whole(place: SinkPlace, found: int, expected: int) -> None:
    """SinkUnavailable if a task has read other rows than were staged: it has published nothing, and is tried again."""
    if found != expected:
        raise SinkUnavailable(
            f"{place.where}: {found:,} of {expected:,} rows were read back from where they are staged.",
            required="Nothing of the batch is published; it is tried again.",
        )


def behind_us(what: str) -> StoreEmptied:
    """The error for a store that has gone back behind what this driver has published there, in one place; `what` says what it lacks."""
    return StoreEmptied(
        f"{what}, which was published there.",
        required="What was committed there is gone: it failed over to a copy that lagged behind, was restored from a backup, or emptied.",
        remedy="Run the job again: it publishes again what is still staged, and names the batches of which nothing is staged any more. "
        "Those come back from a backup of the store, or with a new checkpoint and a new output.",
    )


def gone(manifest: Manifest, section: Section) -> StagedRowsGone:
    """The error for a batch that a service has not taken and whose staged rows are not whole, in one place."""
    return StagedRowsGone(
        f"Batch {manifest.batch} of {section.output} is not published whole, and its staged rows are not whole.",
        required="The manifest names them.",
        remedy=f"Run again with --replay-last: batch {manifest.batch} is computed again from its recorded input.",
        action=RemedyAction.REPLAY_LAST,
        batch=manifest.batch,
    )
