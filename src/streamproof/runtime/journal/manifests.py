"""Incarnation and manifests of one query, beside Spark's own files in its checkpoint (R1-R3, R30)."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamproof import __version__
from streamproof.core.clock import now_utc
from streamproof.core.ids import new_id
from streamproof.core.incarnation import Incarnation
from streamproof.core.manifest import Chain, Manifest, Section
from streamproof.errors import WrongCheckpoint

if TYPE_CHECKING:
    from streamproof._jvm import Storage

FOLDER = "_streamproof"
KEPT = 100
"""So many manifests stay, as many as Spark keeps of its own logs: no rule looks further back, but for batches that wait for an output."""
_AT_ONCE = 20
"""So many are removed with each batch, where an output that had to wait has left more."""


class ManifestStore:
    """The manifests of one query: created if absent, never overwritten."""

    def __init__(self, storage: "Storage", checkpoint: str) -> None:
        self._storage = storage
        self.checkpoint = checkpoint
        self._folder = f"{checkpoint}/{FOLDER}"
        self._oldest: int | None = None

    def incarnation(self, job: str, query: str) -> str:
        """The life of this checkpoint: a random id, written before batch 0; a new one is written if there is none.

        Raises
        ------
        WrongCheckpoint
            If the checkpoint belongs to another job or query, or to a query that Streamproof did not start. A torn or missing
            file is made again from the manifests; before the first batch there are none, and nothing to lose.
        UnknownFormat
            If the file is of a format that this version does not know (R30).
        """
        text = self._storage.read(self._incarnation_path)
        found = self._incarnation_in(text)
        if found is None:
            newest = next(self.newest_first(), None)
            if newest is None and self.begun():
                raise WrongCheckpoint(
                    f"The checkpoint {self.checkpoint} has batches and no whole {FOLDER}/incarnation.json; did Streamproof write it?",
                    remedy="Choose another checkpoint in streamproof.toml, or restore that file from a backup.",
                )
            if text is not None:
                self._storage.delete(self._incarnation_path)
            found = _made(job, query, new_id()) if newest is None else _made(newest.job, newest.query, newest.incarnation)
            if not self._storage.create_atomic(self._incarnation_path, found.to_json()):
                return self.incarnation(job, query)  # another driver was first: its id is the one that counts
        owner = (found.job, found.query)
        if owner != (job, query):
            raise WrongCheckpoint(
                f"The checkpoint {self.checkpoint} belongs to the job {owner[0]} (output {owner[1]}); this is {job} (output {query}).",
                remedy="Set another [job] checkpoint in streamproof.toml.",
            )
        return found.incarnation

    @property
    def _incarnation_path(self) -> str:
        return f"{self._folder}/incarnation.json"

    def _incarnation_in(self, text: str | None) -> Incarnation | None:
        """What the file of the incarnation says; None where it is gone or torn."""
        with suppress(ValueError):
            return Incarnation.from_json(text or "", where=self._incarnation_path)
        return None

    def require_known(self) -> None:
        """UnknownFormat if the incarnation or any manifest is of a format that this version does not know (R30).

        All are read: an old one is removed one day, and by then nobody reads it again.
        """
        self._incarnation_in(self._storage.read(self._incarnation_path))
        for number in self.batches():
            self.whole(number)

    def begun(self) -> bool:
        """Whether a batch was ever planned here."""
        return self.newest_planned() >= 0

    def newest_planned(self) -> int:
        """The newest batch that was ever planned here, -1 before the first. Of its logs Spark removes old entries, but never all."""
        folders = (f"{self.checkpoint}/offsets", f"{self.checkpoint}/commits", f"{self._folder}/manifests")
        return max((int(name) for folder in folders for name in self._storage.list(folder) if name.isdigit()), default=-1)

    def newest_first(self) -> Iterator[Manifest]:
        """The whole manifests, from the newest on; torn ones are passed over, and one of an unknown format is not (R30)."""
        for number in reversed(self.batches()):
            manifest = self.whole(number)
            if manifest is not None:
                yield manifest

    def path(self, batch: int) -> str:
        return f"{self._folder}/manifests/{batch}"

    def read(self, batch: int) -> Manifest | None:
        """The manifest of a batch; ValueError if it is torn, UnknownFormat if its format is not known (R30)."""
        text = self._storage.read(self.path(batch))
        return None if text is None else Manifest.from_json(text, where=self.path(batch))

    def whole(self, batch: int) -> Manifest | None:
        """The manifest of a batch; None where it is gone or torn."""
        with suppress(ValueError):
            return self.read(batch)
        return None

    def create(self, manifest: Manifest) -> bool:
        """Writes a manifest if there is none for its batch; False if there is."""
        return self._storage.create_atomic(self.path(manifest.batch), manifest.to_json())

    def mark_unknown(self, since: int) -> None:
        """Writes into the manifests from a batch on that the account is unknown since then; those to come carry it on."""
        for number in self.batches():
            manifest = self.whole(number) if number >= since else None
            if manifest is not None and manifest.unknown_since is None:
                self._storage.replace_atomic(self.path(number), replace(manifest, unknown_since=since).to_json())

    def discard(self, batch: int) -> None:
        """Removes the manifest of a batch: nothing of it is published, or no rule needs it any more."""
        self._storage.delete(self.path(batch))

    def prune(self, newest: int, waiting: Iterable[int] = ()) -> None:
        """Removes manifests that no rule needs any more: what they sum up to, the account and the chain of each output, is in the newest.

        Parameters
        ----------
        newest
            The batch that was just published.
        waiting
            Batches that an output still waits for; their manifests and all after them stay.
        """
        needed = min([newest - KEPT + 1, *(batch - 1 for batch in waiting)])
        if self._oldest is None:
            self._oldest = min(self.batches(), default=newest)
        for batch in range(self._oldest, min(needed, self._oldest + _AT_ONCE)):
            self.discard(batch)
            self._oldest = batch + 1

    def batches(self) -> list[int]:
        """The batches that have a manifest, ascending."""
        names = self._storage.names(f"{self._folder}/manifests")
        return sorted(int(name) for name in names if name.isdigit())

    @property
    def parked_directory(self) -> str:
        """Where rows lie that wait until their window is on time."""
        return f"{self._folder}/parked"

    def side_directory(self, output: str) -> str:
        """Where side rows are staged whose sink does not take JSON lines as they are."""
        return f"{self._folder}/side/{output}"


@dataclass(frozen=True)
class Link:
    """A batch of an output: with its manifest, or without one, which is lost or no longer kept.

    `chain` is what a later manifest says of it and those before it: it had rows. None where no manifest says so.
    """

    batch: int
    manifest: Manifest | None
    section: Section | None
    chain: Chain | None = None


def batches_with_rows(read: Callable[[int], Manifest | None], output: str, numbers: Sequence[int]) -> Iterator[Link]:
    """The batches with rows for an output, from the newest down: each manifest names the one before (R26), those between are passed over.

    Parameters
    ----------
    read
        Gives the manifest of a batch.
    numbers
        The batches to begin with, ascending; what goes below them is found by the chain alone. Of those that no manifest names, one without
        a manifest is given too.
    """
    number, chain = numbers[-1] if numbers else -1, None
    while number >= 0:
        manifest = read(number)
        section = manifest.section(output) if manifest is not None else None
        if manifest is None or (section is not None and section.digest.rows):
            yield Link(number, manifest, section, chain)
        chain = section.earlier if section is not None else None
        if chain is not None:
            number = chain.newest
        else:
            position = bisect_left(numbers, number)
            number = numbers[position - 1] if position else -1


def _made(job: str, query: str, incarnation: str) -> Incarnation:
    return Incarnation(job, query, incarnation, created=now_utc().isoformat(), version=__version__)
