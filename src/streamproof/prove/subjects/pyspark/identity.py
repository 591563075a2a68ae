"""Which folder of a scenario stands for which place that the job names, over all its starts: the same place is the same folder, another is empty.

A job whose checkpoint has another path at each start begins from nothing each time. So the proof must not give it one checkpoint of its own: it keeps,
in the folder of the scenario, what the job has asked for, and hands the list on to the disk that a crash leaves.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from streamproof.prove.record.binding import CHECKPOINT

PLACES = "places.json"
"""In a scenario's folder: the places that the job has named, over all its starts."""
_FOLDER = "{folder}"


class Left(StrEnum):
    """Why a query has left a checkpoint for another."""

    CHANGED = "changed"
    NONE = "none"
    DELETED = "deleted"


@dataclass(frozen=True)
class Place:
    """A folder of a scenario, and the place that the job calls so.

    Parameters
    ----------
    folder
        Its name.
    asked
        As the job says it; None where it says nothing, and Spark takes a new temporary folder at each start.
    deleted
        Whether the job has deleted it.
    """

    folder: str
    asked: str | None
    deleted: bool = False


class Identity:
    """The places of a scenario. They are read when the job starts, and written when it names one."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / PLACES
        found = json.loads(self._file.read_text()) if self._file.is_file() else {}
        self._checkpoints, self._outputs = _places(found.get("checkpoints", {})), _places(found.get("outputs", {}))

    def checkpoint(self, name: str, asked: str | None) -> str:
        """The folder of a query's checkpoint: that of the same place, whichever query has named it; else a new one."""
        shared = next(
            (place for _, place in self._all() if not place.deleted and place.asked is not None and place.asked == asked), None
        )
        return self._taken(self._checkpoints, name, asked, shared)

    def output(self, name: str, asked: str) -> str:
        """The folder of a query's output: that of the same place, where this query has named it before; else a new one."""
        same = next((place for place in self._outputs.get(name, ()) if place.asked == asked), None)
        return self._taken(self._outputs, name, asked, same)

    def _taken(self, places: dict[str, list[Place]], name: str, asked: str | None, there: Place | None) -> str:
        its = places.setdefault(name, [])
        place = there or Place(name if not its else f"{name}.{len(its) + 1}", asked)
        if place in its:
            its.remove(place)
        its.append(place)
        self._write()
        return place.folder

    def checkpoints_of(self, name: str) -> list[Place]:
        """Those that a query has had, the one that it has now last."""
        return self._checkpoints.get(name, [])

    def outputs_of(self, name: str) -> list[str]:
        """The folders that a query has written to; its name where it has named no place."""
        return [place.folder for place in self._outputs.get(name, ())] or [name]

    def sharing(self) -> Iterator[tuple[str, str, str]]:
        """Queries that share a checkpoint: two names, and the place."""
        owner: dict[str, str] = {}
        for name, places in self._checkpoints.items():
            if places and owner.setdefault(places[-1].folder, name) != name:
                yield owner[places[-1].folder], name, places[-1].asked or ""

    def said(self, path: Any) -> str | None:
        """A place as it is compared: absolute, without `file:`, and with the scenario's own folder left open; None where there is none."""
        if path is None or not os.fspath(path):
            return None
        text = os.fspath(path)
        text = text.decode() if isinstance(text, bytes) else str(text)
        if text.startswith("file:"):
            text = "/" + text.removeprefix("file:").lstrip("/")
        if "://" not in text and not text.startswith("dbfs:"):
            text = os.path.abspath(text)  # noqa: PTH100 -- `resolve` would follow links
        return text.rstrip("/").replace(str(self._folder), _FOLDER)

    def bound(self, path: Any) -> Path | None:
        """Where a path of the job lies in the scenario that is one of its checkpoints, or lies below one; None for all others."""
        asked = self.said(path)
        for _, place in self._all():
            if asked is not None and place.asked is not None and not place.deleted:
                if asked == place.asked:
                    return self._at(place)
                if asked.startswith(f"{place.asked}/"):
                    return self._at(place) / asked.removeprefix(f"{place.asked}/")
        return None

    @property
    def folder_of_checkpoints(self) -> Path:
        return self._folder / CHECKPOINT

    def below(self, path: Any) -> list[str]:
        """The places of checkpoints that are a path of the job, or lie below it."""
        asked = self.said(path)
        places = {place.asked for _, place in self._all() if place.asked is not None and not place.deleted}
        return [place for place in sorted(places) if asked is not None and (place == asked or place.startswith(f"{asked}/"))]

    def delete_all(self, places: Sequence[str]) -> bool:
        """Deletes checkpoints as the job means it: nothing of them is there any more; whether there was one."""
        return sum(self._delete(place) for place in places) > 0

    def _delete(self, asked: str) -> bool:
        """The proof lays a checkpoint aside, to know what was in it."""
        gone = False
        for name, its in self._checkpoints.items():
            for number, place in enumerate(its):
                if place.asked == asked and not place.deleted and self._at(place).is_dir():
                    aside = f"{name}.deleted-{len(its)}"
                    self._at(place).rename(self._folder / CHECKPOINT / aside)
                    its[number] = Place(aside, asked, deleted=True)
                    gone = True
        self._write()
        return gone

    def _at(self, place: Place) -> Path:
        return self._folder / CHECKPOINT / place.folder

    def _all(self) -> Iterator[tuple[str, Place]]:
        for name, its in self._checkpoints.items():
            yield from ((name, place) for place in its)

    def _write(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        kept = {"checkpoints": self._checkpoints, "outputs": self._outputs}
        self._file.write_text(
            json.dumps({kind: {name: [vars(one) for one in its] for name, its in of.items()} for kind, of in kept.items()})
        )


def _places(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[Place]]:
    return {name: [Place(**one) for one in its] for name, its in found.items()}


def why_left(earlier: Place, now: Place) -> Left:
    """Why a query has left a checkpoint."""
    if earlier.deleted:
        return Left.DELETED
    return Left.NONE if now.asked is None else Left.CHANGED
