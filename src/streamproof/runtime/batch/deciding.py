"""Which manifest of a batch counts: that of an earlier attempt, what a ledger says of it, or this attempt's (PROTOCOL R2, R4, R7)."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from streamproof.core.manifest import Digest, LedgerEntry, Manifest, Section, first_unknown
from streamproof.errors import SinkUnavailable
from streamproof.runtime.batch.contradictions import (
    accepted_as_in_ledger,
    accepted_as_published,
    contradiction,
    in_part,
    may_be_visible,
    needed_to_decide,
    other_manifest,
    require_same,
)
from streamproof.runtime.batch.publishing import Publisher
from streamproof.runtime.batch.started import StartedQuery
from streamproof.runtime.rows.parking import Parking


@dataclass
class Deciding:
    """Compares what this attempt has staged with what is known of its batch; removes what does not count.

    Parameters
    ----------
    accept_replay
        A batch that stands as it is published, although another attempt computes other rows; None for none.
    """

    query: StartedQuery
    publisher: Publisher
    parking: Parking | None = None
    accept_replay: int | None = None
    _up_to_date: set[str] = field(init=False, default_factory=set)
    """The outputs whose ledger knows nothing of a batch of this start."""

    def __post_init__(self) -> None:
        self.manifests, self.sinks, self.events = self.query.journal.manifests, self.query.sinks.by_name, self.query.events

    def decide(self, staged: Manifest) -> Manifest:
        """The manifest that counts: the one that is there if this attempt equals it, else this attempt's (R4)."""
        known = self.manifests.read(staged.batch)
        if known is None and (again := self._from_ledger(staged)) is not None:
            return again
        if known is not None:
            differences = _differences(known, staged)
            if not differences:
                return self._standing(known, staged)
            if self._is_begun(known):
                if self.accept_replay != staged.batch or known.fingerprint.hash != staged.fingerprint.hash:
                    other_input = known.fingerprint.hash != staged.fingerprint.hash
                    raise contradiction(known, differences, other_input=other_input)
                self.events.note(accepted_as_published(known, differences))
                stands = self._standing(known, staged)
                self.manifests.mark_unknown(staged.batch)
                return stands
            self.manifests.discard(staged.batch)
            self._drop_attempt(known)
        if not self.manifests.create(staged):
            raise other_manifest(staged)
        return staged

    def _standing(self, known: Manifest, staged: Manifest) -> Manifest:
        """The known manifest, with its rows, or with those of this attempt where they are gone."""
        if not self._rows_left(known):
            return self._staged_again(known, staged)
        self._drop_attempt(staged)
        return known

    def _from_ledger(self, staged: Manifest) -> Manifest | None:
        """A manifest that was lost after its batch was published is made again from the ledger, if the batch is the same (R2)."""
        published: dict[str, Sequence[LedgerEntry]] = {}
        for section in staged.sections:
            found = self._ledger_of(section, staged.batch)
            if found:
                published[section.output] = found
        if not published:
            return None
        accepted = self.accept_replay == staged.batch
        sections, whole, unknown = [], set(), staged.unknown_since
        for section in staged.sections:
            entries = published.get(section.output, ())
            if entries:
                if not require_same(staged, section, entries[0], accepted=accepted):
                    self.events.note(accepted_as_in_ledger(staged, section, entries[0]))
                    unknown = first_unknown(unknown, staged.batch)
                section = replace(section, earlier=entries[0].earlier or section.earlier)  # what was published vouches for itself
                if self.sinks[section.output].torn(staged.batch, None) is not None:
                    self.sinks[section.output].take_back(staged.batch)  # equal rows are staged, and published under the same id
                    sections.append(replace(section, shards=entries[0].shards))
                    continue
                section = replace(section, shards=entries[0].shards)
                if len(entries) >= entries[0].shards:
                    whole.add(section.output)
                elif not accepted:
                    raise in_part(staged, section, len(entries), "its manifest is lost")
                else:
                    unknown = first_unknown(unknown, staged.batch)
            sections.append(section)
        again = replace(staged, id=next(iter(published.values()))[0].manifest, sections=tuple(sections), unknown_since=unknown)
        if not self.manifests.create(again):
            raise other_manifest(staged)
        self._drop_unneeded(again, [section for section in again.sections if section.output in whole], whole)
        return again

    def _ledger_of(self, section: Section, batch: int) -> Sequence[LedgerEntry]:
        """What a ledger says of a batch without a manifest.

        A store is asked from its first batch on until it knows nothing of one: those after it, which are published in order, are new.
        One that is down is not asked; an entry of another manifest is then met when the batch is published there.
        """
        sink = self.sinks[section.output]
        if sink.may_lag and (section.output in self._up_to_date or self.publisher.pauses(section.output)):
            return ()
        found: Sequence[LedgerEntry] = ()
        with suppress(SinkUnavailable):
            found = sink.entries(batch)
            if not found and section.digest.rows:
                self._up_to_date.add(section.output)
        return found

    def _rows_left(self, known: Manifest) -> bool:
        """Whether every section is published whole, or its staged rows are still whole: a power failure may have taken them."""
        if self.parking is not None and not self.parking.has(known):
            return False
        return all(self.sinks[section.output].staged_whole(section) or self._is_whole(known, section) for section in known.sections)

    def _staged_again(self, known: Manifest, staged: Manifest) -> Manifest:
        """The known manifest, with this attempt's rows for what is not published whole: its id stays, since ledgers hold it (R7).

        The rows are equal, unless somebody has accepted that they are not. A part that is published stands: this attempt's files must hold
        the others as the former ones did.
        """
        sections: list[Section] = []
        dropped: list[Section] = []
        whole: set[str] = set()
        unknown = first_unknown(known.unknown_since, staged.unknown_since)
        for section in known.sections:
            sink, mine = self.sinks[section.output], staged.section(section.output)
            if mine is None or self._is_whole(known, section):
                dropped += [] if mine is None else [mine]
                sections.append(section)
                whole.add(section.output)
                continue
            parts = len(sink.entries(known.batch)) if section.digest.rows else 0
            if parts:
                mine = replace(mine, shards=section.shards)
                if not mine.splits_like(section) and section.shards > 1:
                    if self.accept_replay != known.batch:
                        raise in_part(
                            known, section, parts, "the rows that are missing were staged and are gone, and now lie in other files"
                        )
                    unknown = first_unknown(unknown, known.batch)
            dropped.append(section)
            sections.append(mine)
        again = replace(staged, id=known.id, sections=tuple(sections), unknown_since=unknown)
        self._drop_unneeded(again, dropped, whole)
        self.manifests.discard(staged.batch)
        if not self.manifests.create(again):
            raise other_manifest(staged)
        return again

    def _drop_unneeded(self, manifest: Manifest, dropped: Sequence[Section], whole: Collection[str]) -> None:
        """Removes staged rows, unless another sink of the same output still publishes them."""
        needed = {self._directory_of(section) for section in manifest.sections if section.output not in whole}
        for section in dropped:
            if section.digest.rows and self._directory_of(section) not in needed:
                self.sinks[section.output].abort(section.directory)

    def _directory_of(self, section: Section) -> str:
        return f"{self.sinks[section.output].place.staged_in}/{section.directory}"

    def _is_whole(self, known: Manifest, section: Section) -> bool:
        sink = self.sinks[section.output]
        return bool(section.digest.rows) and sink.published(known.batch) is not None and sink.complete(known, section)

    def _is_begun(self, known: Manifest) -> bool:
        with needed_to_decide(known):
            return may_be_visible(known, self.sinks)

    def _drop_attempt(self, staged: Manifest) -> None:
        if self.parking is not None:
            self.parking.drop_attempt(staged.attempt)
        for section in staged.sections:
            if section.digest.rows:
                self.sinks[section.output].abort(section.directory)


def _differences(known: Manifest, staged: Manifest) -> list[str]:
    found = []
    if known.fingerprint.hash != staged.fingerprint.hash:
        found.append("it reads other input or has another watermark")
    for section in known.sections:
        mine = staged.section(section.output)
        if mine is None or not mine.digest.agrees_with(section.digest):
            found.append(f"output {section.output}: {_said(section.digest)} before, {_said(mine.digest if mine else Digest())} now")
    if known.put_aside != staged.put_aside:
        before, now = (sum(ends.values()) for ends in (known.put_aside, staged.put_aside))
        found.append(f"rows that wait until their window is on time: {before} before, {now} now, or of other windows")
    return found


def _said(digest: Digest) -> str:
    return f"{digest.rows} rows with hash sum {digest.hash:x}"
