"""Findings in the logs of file sources: torn entries, and entries that a batch stands on and that no file names any more.

Spark numbers the entries of a source from 0 on, without a gap, and each names at least one file. `N.compact` names the files of all entries up to N:
Spark then removes the files before it. So an entry below is fine where a compact file at or above it is whole.
"""

from dataclasses import dataclass

from streamproof.checkpoint.batches import FILES
from streamproof.checkpoint.folder import SOURCES, list_names
from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.logs import COMPACT, compact_interval, log_number
from streamproof.checkpoint.verify.finding import Harm, Look

_OF_SOURCE = "It names files that were read: a start would read them once more, or not know what a batch has read."

_AHEAD = 100
"""So many entries are looked for above the newest that is there: a damaged offset may name any."""


@dataclass(frozen=True)
class _Whole:
    """What the whole files of a source's log name: the entries of their own numbers, and all up to the newest compact file."""

    plain: frozenset[int]
    compact: int

    def names(self, entry: int) -> bool:
        return entry in self.plain or entry <= self.compact


def look_at_sources(look: Look) -> None:
    """What is torn or missing of the logs of the sources, for each source that the offset logs name."""
    for source in sorted({int(name) for name in list_names(look.found.path / SOURCES) if name.isdigit()} | _of_files(look.found)):
        _look_at_source(look, source)
    if look.found.own is not None:  # a job of ours reads no stream twice
        for source in sorted(source for source, folder in look.found.logs.shared.items() if folder != source):
            path = f"{SOURCES}/{source}"
            look.add(Harm.MISSING, path, f"The folder {path} is not there.", _OF_SOURCE, None)


def _of_files(found: Inspection) -> set[int]:
    """The folders of the sources that an offset log calls files."""
    return {found.logs.folder(number) for batch in found.batches for number, read in enumerate(batch.sources) if read.kind == FILES}


def _look_at_source(look: Look, source: int) -> None:
    found, folder = look.found, f"{SOURCES}/{source}"
    names = {name: number for name in list_names(found.path / folder) if (number := log_number(name)) is not None}
    torn = {
        name: damage or "is cut short or damaged"
        for name in names
        if (damage := look.damage(found.path / folder / name)) is not None or f"{folder}/{name}" in found.logs.torn
    }
    there = names.keys() - torn.keys()
    compact = [names[name] for name in there if name.endswith(COMPACT)]
    whole = _Whole(frozenset(names[name] for name in there), max(compact, default=-1))
    for name, damage in torn.items():
        first = 0 if name.endswith(COMPACT) else names[name]
        lost = next((entry for entry in range(first, names[name] + 1) if not whole.names(entry)), None)
        batches = set[int]() if lost is None else _batches_after(found, source, lost)
        look.add(Harm.TORN, f"{folder}/{name}", f"{folder}/{name} {damage}.", _OF_SOURCE, batches)
    if source not in _of_files(found):
        return
    line = found.logs.source(source)
    end = max(read.positions["log"] for batch in found.batches for read in batch.sources[line : line + 1] if read.kind == FILES)
    end = min(end, max(names.values(), default=0) + _AHEAD)
    torn_compact = max((names[name] for name in torn if name.endswith(COMPACT)), default=-1)
    told = {names[name] for name in torn}
    missing = [entry for entry in range(end + 1) if not whole.names(entry) and entry > torn_compact and entry not in told]
    if missing and not names:
        says = f"The folder {folder} is not there." if not (found.path / folder).exists() else f"The folder {folder} is empty."
        look.add(Harm.MISSING, folder, says, _OF_SOURCE, _batches_after(found, source, 0))
        return
    _look_at_missing(look, source, missing, compact)


def _look_at_missing(look: Look, source: int, missing: list[int], compact: list[int]) -> None:
    """Entries that no file names: what a lost compact file has named is one finding."""
    interval = compact_interval(compact)
    from_start = [entry for place, entry in enumerate(missing) if entry == place]
    if len(from_start) > 1:  # Spark removes them only where a compact file names them
        last = next((entry for entry in reversed(from_start) if (entry + 1) % interval == 0), None)
        path = f"{SOURCES}/{source}/{from_start[-1]}" if last is None else f"{SOURCES}/{source}/{last}{COMPACT}"
        last = from_start[-1] if last is None else last
        says = f"{path} is not there, and no other file names the entries 0 to {last} of this source."
        look.add(Harm.MISSING, path, says, _OF_SOURCE, _batches_after(look.found, source, 0))
        missing = missing[last + 1 :]
    for entry in missing:
        path = f"{SOURCES}/{source}/{entry}{COMPACT if (entry + 1) % interval == 0 else ''}"
        look.add(Harm.MISSING, path, f"{path} is not there.", _OF_SOURCE, _batches_after(look.found, source, entry))


def _batches_after(found: Inspection, source: int, entry: int) -> set[int]:
    """The batches that have read up to an entry of a source's log, or beyond it."""
    line = found.logs.source(source)
    return {
        batch.number
        for batch in found.batches
        if line < len(batch.sources) and batch.sources[line].positions.get("log", -1) >= entry
    }
