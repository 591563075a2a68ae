"""The manifest of a batch and the ledger entry of a publication (PROTOCOL R1-R7)."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from streamproof.core.formats import Format, require_keys

MANIFEST = Format("a manifest", known=(1, 2, 3))
_WAITING = 2
"""The format of a manifest that names rows which wait; without any it is of the first (R30)."""
_OF_TABLES = 3
"""The format of a manifest that names versions of tables."""
LEDGER_ENTRY = Format("a ledger entry")
NONE = "none"
"""What `made_by` says of a part that a query does not have, such as operators that keep state."""
_FLOAT_TOLERANCE = 1e-9
_OF_FILES = ("files", "earlier")
"""What only the ledgers of files say."""


@dataclass(frozen=True)
class StagedFile:
    """One staged file: its name inside the section's directory, bytes, checksum where the store or the writer gives one, and what its
    rows sum up to where that was asked for.
    """

    name: str
    size: int
    checksum: str | None = None
    digest: "Digest | None" = None


@dataclass(frozen=True)
class Digest:
    """What was written, as sums that do not depend on order: rows, hidden record count, hash sum, sums of float columns.

    `floats` maps a column to (sum, sum of absolute values); two digests are equal if the float sums agree within 1e-9 of the
    absolute sums and everything else agrees exactly (R4). `steps` has the step of a column that is rounded after its sum: each row may
    come out one step apart.
    """

    rows: int = 0
    records: int = 0
    hash: int = 0
    floats: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)

    def agrees_with(self, other: "Digest") -> bool:
        if (self.rows, self.records, self.hash) != (other.rows, other.records, other.hash):
            return False
        if set(self.floats) != set(other.floats):
            return False
        steps = {**self.steps, **other.steps}
        return all(_close(self.floats[column], other.floats[column], self.rows * steps.get(column, 0.0)) for column in self.floats)

    def __add__(self, other: "Digest") -> "Digest":
        floats = dict(self.floats)
        for column, (total, absolute) in other.floats.items():
            mine = floats.get(column, (0.0, 0.0))
            floats[column] = (mine[0] + total, mine[1] + absolute)
        return Digest(
            self.rows + other.rows,
            self.records + other.records,
            (self.hash + other.hash) % 2**64,
            floats,
            {**self.steps, **other.steps},
        )


def _close(mine: tuple[float, float], theirs: tuple[float, float], apart: float) -> bool:
    if mine == theirs or (mine[0] != mine[0] and theirs[0] != theirs[0]):
        return True
    return abs(mine[0] - theirs[0]) <= apart + _FLOAT_TOLERANCE * max(mine[1], theirs[1])


@dataclass(frozen=True)
class Chain:
    """The batches with rows that an output has had up to some batch (R26): the newest of them (-1 without one), how many they are, and the sum
    of their numbers.

    A batch that is gone from the middle is told by it at a cost that does not grow with history: the names that are there are counted and
    added up. `lost` and `lost_sum` are the count and the sum of those that somebody has accepted as lost.
    """

    newest: int = -1
    count: int = 0
    sum: int = 0
    lost: int = 0
    lost_sum: int = 0

    def then(self, batch: int) -> "Chain":
        return replace(self, newest=batch, count=self.count + 1, sum=self.sum + batch)


@dataclass(frozen=True)
class Section:
    """One output of a batch: where its rows are staged (relative to the sink's path), what they are, and in how many shards they are
    published (R7).

    `earlier` has the batches with rows before this one; None where all manifests before it were lost.
    """

    output: str
    kind: str
    directory: str
    files: tuple[StagedFile, ...]
    digest: Digest
    shards: int = 1
    earlier: Chain | None = None

    def chain(self, batch: int) -> Chain | None:
        """The batches with rows up to this one, which is `batch`."""
        return self.earlier.then(batch) if self.earlier is not None and self.digest.rows else self.earlier

    def files_of(self, shard: int) -> tuple[StagedFile, ...]:
        """The files of one shard. With three shards, shard 0 has every third file, in the order of their names."""
        return self.files[shard :: self.shards]

    def splits_like(self, other: "Section") -> bool:
        """Whether each shard holds the same rows as in the other: equal rows can lie in the files in another way (R7).

        False too where one of them does not say what its files hold.
        """
        return self.shards == other.shards and all(
            mine is not None and theirs is not None and mine.agrees_with(theirs)
            for mine, theirs in ((self._digest_of(shard), other._digest_of(shard)) for shard in range(self.shards))
        )

    def _digest_of(self, shard: int) -> Digest | None:
        found = Digest()
        for file in self.files_of(shard):
            if file.digest is None:
                return None
            found += file.digest
        return found


@dataclass(frozen=True)
class Parked:
    """Rows that wait until their window is on time: in which batch they were put aside, by which attempt, into which files; and how many there
    are of each end of a window, microseconds UTC.

    Of the rows of one window that several batches have put aside the newest counts. What is `folded` stands for all that was put aside up to
    its batch. It is `counted` where `ends` has the rows in the files. Manifests that do not say so have what was read to put them together.
    """

    batch: int
    attempt: str
    files: tuple[StagedFile, ...]
    ends: Mapping[int, int]
    folded: bool = False
    counted: bool = True

    def waiting(self, on_time_us: int) -> bool:
        """Whether a window of theirs ends after an instant."""
        return any(end > on_time_us for end in self.ends)


@dataclass(frozen=True)
class Fingerprint:
    """What the batch was (R2): its watermark, and of every source where it ends, with its files or where it starts.

    Parameters
    ----------
    offsets
        The end of each source, as Spark writes it.
    files
        By source, the files of the batch: for those the number of a log entry is not enough.
    starts
        By source, for the others, where the batch before has ended.
    tables
        By table that it has looked rows up in, the version of it.
    """

    watermark_ms: int
    offsets: tuple[str, ...]
    files: Mapping[str, tuple[str, ...]]
    starts: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        return hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()[:16]

    def as_dict(self) -> dict[str, Any]:
        """As a manifest has it. Without tables it says nothing of them: ledgers hold the hashes of batches from before there were any."""
        found = asdict(self)
        if not self.tables:
            del found["tables"]
        return found


@dataclass(frozen=True)
class Manifest:
    """What one batch of one query has staged; created if absent, never overwritten.

    `parked` has the rows that waited when the batch began, and those that it has put aside. `places` says where each output of the query
    lies, as seen from the checkpoint, `connectors` how each is written, as configured, `topics` by name the ids of the topics that are
    read, as they were when the driver started. `made_by` names what the state of the query is made by (R25), `version` our own.
    `unknown_since` is the batch from which the totals and the open windows do not belong together: a manifest before it was lost, or its
    replay accepted. The next manifests carry it on.
    """

    id: str
    job: str
    query: str
    incarnation: str
    batch: int
    attempt: str
    fingerprint: Fingerprint
    offset_log: str
    source_logs: Mapping[str, Mapping[str, str]]
    sections: tuple[Section, ...]
    counts: Mapping[str, int]
    places: Mapping[str, str] = field(default_factory=dict)
    connectors: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)
    made_by: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    unknown_since: int | None = None
    parked: tuple[Parked, ...] = ()

    def section(self, output: str) -> Section | None:
        return next((section for section in self.sections if section.output == output), None)

    @property
    def sent_while_it_ran(self) -> bool:
        """Whether the rows of the main output went out while the batch ran, as with the real-time trigger: no section has them."""
        staged = sum(section.digest.rows for section in self.sections if section.kind == "main")
        return bool(self.counts.get("emitted")) and not staged

    @property
    def put_aside(self) -> Mapping[int, int]:
        """How many rows the batch itself has put aside until their window is on time, by the window's end, microseconds UTC."""
        return next((one.ends for one in self.parked if one.attempt == self.attempt and not one.folded), {})

    def to_json(self) -> str:
        record = {**asdict(self), "fingerprint": self.fingerprint.as_dict()}
        if not self.parked:
            del record["parked"]
        if self.fingerprint.tables:
            return MANIFEST.text(record, _OF_TABLES)
        return MANIFEST.text(record, _WAITING) if self.parked else MANIFEST.text(record)

    @classmethod
    def from_json(cls, text: str, *, where: str = "") -> "Manifest":
        """The manifest that `text` holds.

        Parameters
        ----------
        where
            The file that holds it, as an error names it.

        Raises
        ------
        ValueError
            If the text is torn.
        UnknownFormat
            If it is whole, and of a format or with a key that this version does not know (R30).
        """
        return MANIFEST.read(text, where, cls._made)

    @classmethod
    def _made(cls, found: Mapping[str, Any]) -> "Manifest":
        require_keys(cls, found)
        sections, parked = tuple(map(_section, found["sections"])), tuple(map(_parked, found.get("parked", ())))
        return cls(**{**found, "fingerprint": _fingerprint(found["fingerprint"]), "sections": sections, "parked": parked})


def first_unknown(*batches: int | None) -> int | None:
    """The earliest of the batches since which an account is unknown; None where it is known."""
    return min((batch for batch in batches if batch is not None), default=None)


def _fingerprint(found: Mapping[str, Any]) -> Fingerprint:
    require_keys(Fingerprint, found)
    return Fingerprint(
        watermark_ms=found["watermark_ms"],
        offsets=tuple(found["offsets"]),
        files={source: tuple(files) for source, files in found["files"].items()},
        starts=found.get("starts", {}),
        tables=found.get("tables", {}),
    )


def _section(found: Mapping[str, Any]) -> Section:
    require_keys(Section, found)
    return Section(
        output=found["output"],
        kind=found["kind"],
        directory=found["directory"],
        files=tuple(_file(file) for file in found["files"]),
        digest=_digest(found["digest"]),
        shards=found.get("shards", 1),
        earlier=_chain(found.get("earlier")),
    )


def _parked(found: Mapping[str, Any]) -> Parked:
    require_keys(Parked, found)
    ends = {int(end): rows for end, rows in found["ends"].items()}
    folded = found["folded"]
    return Parked(
        found["batch"], found["attempt"], tuple(map(_file, found["files"])), ends, folded, found.get("counted", not folded)
    )


def chain_of(found: Mapping[str, Any]) -> Chain:
    """The chain that is written down in a record."""
    require_keys(Chain, found)
    return Chain(**found)


def _chain(found: Mapping[str, Any] | None) -> Chain | None:
    return None if found is None else chain_of(found)


def _file(found: Mapping[str, Any]) -> StagedFile:
    require_keys(StagedFile, found)
    digest = found.get("digest")
    return StagedFile(found["name"], found["size"], found.get("checksum"), None if digest is None else _digest(digest))


def _digest(found: Mapping[str, Any]) -> Digest:
    require_keys(Digest, found)
    return Digest(
        rows=found["rows"],
        records=found["records"],
        hash=found["hash"],
        floats={column: (sums[0], sums[1]) for column, sums in found["floats"].items()},
        steps=found.get("steps", {}),
    )


@dataclass(frozen=True)
class LedgerEntry:
    """Says that one shard of one output of one batch is published, and by which manifest; it lies with the rows themselves.

    `rows` and `hash` are those of the whole output of the batch, `shards` says in how many parts it is published. Where the rows are files, the
    entry names them with their bytes, and the batches before, so that what is published vouches for itself (R26).
    """

    job: str
    output: str
    incarnation: str
    batch: int
    shard: int
    manifest: str
    fingerprint: str
    rows: int
    hash: int
    shards: int = 1
    files: tuple[StagedFile, ...] = ()
    earlier: Chain | None = None

    def to_json(self) -> str:
        return LEDGER_ENTRY.text({name: value for name, value in asdict(self).items() if name not in _OF_FILES or value})

    @classmethod
    def from_json(cls, text: str, *, where: str = "") -> "LedgerEntry":
        """The entry that `text` holds.

        Parameters
        ----------
        where
            The file or record that holds it, as an error names it.

        Raises
        ------
        ValueError
            If the text is torn.
        UnknownFormat
            If it is whole, and of a format or with a key that this version does not know (R30).
        """
        return LEDGER_ENTRY.read(text, where, cls._made)

    @classmethod
    def _made(cls, found: Mapping[str, Any]) -> "LedgerEntry":
        require_keys(cls, found)
        files = tuple(map(_file, found.get("files", ())))
        return cls(**{**found, "files": files, "earlier": _chain(found.get("earlier"))})
