"""Findings in the logs of a checkpoint: what is torn, which batch is missing between others, and what belongs to another batch."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeVar

from streamproof.checkpoint.batches import FILES, OTHER, TOPICS, Batch
from streamproof.checkpoint.folder import COMMITS, METADATA, OFFSETS, list_names, read_text
from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.own import FOLDER
from streamproof.checkpoint.verify.finding import Harm, Look

T = TypeVar("T")
_OF_OFFSETS = "It says what the batch has read: without it the batch cannot be done again, nor the next one, which begins there."


def look_at_metadata(look: Look) -> None:
    path = look.found.path / METADATA
    if look.found.query_id:
        return
    there = path.exists()
    look.add(
        Harm.TORN if there else Harm.MISSING,
        METADATA,
        f"The file {METADATA} is {'torn' if there else 'gone'}.",
        "It holds Spark's id of the query. Spark from 4.2 on does not start without it; before, it takes the query for another one.",
        None,
    )


def look_at_logs(look: Look) -> None:
    """What is torn of the logs, and which batches are missing between others."""
    found, folder = look.found, look.found.path
    for kind, means in (
        (OFFSETS, _OF_OFFSETS),
        (
            COMMITS,
            "It says that the batch is done, and which state belongs to it: a start would do it again.",
        ),
    ):
        for name in list_names(folder / kind):
            path = f"{kind}/{name}"
            if not name.isdigit():
                continue
            damage = look.damage(folder / path)
            if path in found.logs.torn or damage is not None:
                says = f"{path} {damage or 'is cut short or damaged'}."
                look.add(Harm.TORN, path, says, means, _needing(kind, int(name), found))
        numbers = sorted({int(name) for name in list_names(folder / kind) if name.isdigit()})
        for before, after in pairwise(numbers):
            for number in sorted(set(range(before + 1, after)) - found.left_out):
                look.add(
                    Harm.GAP,
                    f"{kind}/{number}",
                    f"{kind}/{number} is not there, and the batches before and after it are.",
                    f"{_NEXT if kind == OFFSETS else ''}A start after a later batch does not need it; to this batch nobody can go back.",
                    _needing(kind, number, found),
                )
    planned, committed = sorted(found.logs.planned), look.committed
    if committed and committed[-1] not in found.logs.planned and f"{OFFSETS}/{committed[-1]}" not in found.logs.torn:
        path = f"{OFFSETS}/{committed[-1]}"
        look.add(
            Harm.MISSING,
            path,
            f"{path} is not there, and the batch is committed.",
            "Spark does not know where to go on reading.",
            {committed[-1]},
        )
    if planned and committed and planned[-1] > committed[-1] + 1:
        for number in sorted(set(range(committed[-1] + 1, planned[-1])) - found.left_out):
            path = f"{COMMITS}/{number}"
            if path not in found.logs.torn:
                look.add(
                    Harm.MISSING,
                    path,
                    f"{path} is not there, and batch {planned[-1]} is planned.",
                    f"A start does batch {planned[-1]} again and none before it: the state would lack what batch {number} has read.",
                    {number},
                )


def _needing(kind: str, batch: int, found: Inspection) -> set[int]:
    """The batches after which no start is possible without a log of this batch: of two offset logs Spark reads where the newer one begins."""
    return {batch, found.after(batch)} & {batch, *found.logs.planned} if kind == OFFSETS else {batch}


_NEXT = "A start after the next batch reads it too, for where that one begins. "


def look_at_lines(look: Look) -> None:
    """Offset logs that can be read, and have other sources than the others: Spark lets a query change neither their number nor their kind."""
    batches = look.found.batches
    usual = _most(len(batch.sources) for batch in batches)
    kinds = [_most(kind for batch in batches if (kind := _kind(batch, source))) for source in range(usual or 0)]
    for batch in batches:
        path, count = f"{OFFSETS}/{batch.number}", len(batch.sources)
        needing = _needing(OFFSETS, batch.number, look.found)
        if usual is not None and count != usual:
            harm = Harm.TORN if count < usual else Harm.FOREIGN
            look.add(harm, path, f"{path} names {_sources(count)}, and the others name {_sources(usual)}.", _OF_OFFSETS, needing)
        for source, (kind, expected) in enumerate(zip((_kind(batch, source) for source in range(count)), kinds, strict=False)):
            if kind is not None and expected not in (OTHER, kind):
                says = f"{path} says of source {source} what is none of the offsets that the others have of it ({expected})."
                look.add(Harm.TORN if kind == OTHER else Harm.FOREIGN, path, says, _OF_OFFSETS, needing)


def _kind(batch: Batch, source: int) -> str | None:
    """What a batch says that a source is; None where it does not say it: nothing is read yet, or it is empty."""
    read = batch.sources[source] if source < len(batch.sources) else None
    said = read is not None and (read.positions or read.kind == OTHER)
    return read.kind if read is not None and said else None


def _most(values: Iterable[T]) -> T | None:
    """What most of the values are; of equally many the first, and something that is known before "other"."""
    counted = Counter(values).most_common()
    most = [value for value, count in counted if count == counted[0][1]]
    return next((value for value in most if value != OTHER), most[0] if most else None)


def _sources(count: int) -> str:
    return f"{count} source{'s' if count != 1 else ''}"


def look_at_order(look: Look) -> None:
    """Logs that are whole, and say of a batch what comes before the one before it."""
    own = look.found.own
    for before, after in pairwise(look.found.batches):
        back = _goes_back(before, after)
        if before.number == look.found.before(after.number) and back:
            path = f"{OFFSETS}/{after.number}"
            look.add(
                Harm.SWAPPED,
                path,
                f"{path} {back} than {OFFSETS}/{before.number}.",
                "One of the two belongs to another batch or checkpoint, or the topic was made anew: records would be read again or passed over.",
                {before.number, after.number},
            )
    for number, manifest in (own.manifests if own is not None else {}).items():
        path = f"{OFFSETS}/{number}"
        text = read_text(look.found.path / path)
        if text is not None and text.strip() != manifest.offset_log.strip() and path not in look.found.logs.torn:
            look.add(
                Harm.SWAPPED,
                path,
                f"{path} is not what the manifest of batch {number} has written down.",
                "It belongs to another batch or to another checkpoint. A start of the job stops at it where it still needs it.",
                {number},
            )


def _goes_back(before: Batch, after: Batch) -> str:
    """Whether a batch is before the one that it comes after; the time when it was planned says nothing, since clocks are set back."""
    if after.watermark_ms < before.watermark_ms:
        return "has an earlier watermark"
    for source, (one, other) in enumerate(zip(before.sources, after.sources, strict=False)):
        if one.kind == other.kind and one.kind in (FILES, TOPICS):
            back = [place for place, end in other.positions.items() if end < one.positions.get(place, end)]
            if back:
                where = f" of {back[0]}" if one.kind == TOPICS else f" of source {source}"
                return f"has read less{where}"
    return ""


def look_at_manifests(look: Look) -> None:
    own = look.found.own
    if own is None:
        return
    for path, says in own.torn.items():
        name = path.rpartition("/")[2]
        means = "It has the account since the checkpoint began, and names what the batch publishes."
        look.add(
            Harm.TORN,
            path,
            says,
            means if name.isdigit() else "The job makes it again from its manifests.",
            {int(name)} if name.isdigit() else set(),
        )
    for number, manifest in own.manifests.items():
        path = f"{FOLDER}/manifests/{number}"
        if manifest.batch != number:
            look.add(
                Harm.SWAPPED,
                path,
                f"{path} is of batch {manifest.batch}.",
                "A start takes it for what the other batch has staged.",
                {number},
            )
        elif own.identity is not None and manifest.incarnation != own.identity.incarnation:
            says = f"{path} is of the incarnation {manifest.incarnation[:4]}, and the checkpoint is {own.identity.incarnation[:4]}."
            look.add(Harm.FOREIGN, path, says, "It came from another checkpoint: its rows are not this job's.", {number})
    newest = max(look.committed, default=None)
    if newest is None or own.newest is None or newest in own.manifests or f"{FOLDER}/manifests/{newest}" in own.torn:
        return
    if not own.newest.sent_while_it_ran:  # with the real-time trigger a start makes the manifest after the commit
        path = f"{FOLDER}/manifests/{newest}"
        says = f"{path} is not there, and Spark has committed its batch."
        look.add(Harm.MISSING, path, says, "It has the account since the checkpoint began: a start stops.", {newest})
