"""What a run notices about the folders that it reads: subfolders that it leaves out, and columns that change from file to file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql.types import StructType

from streamproof import _jvm
from streamproof.core.folders import left_out
from streamproof.core.notes import Note, NoteCode
from streamproof.core.paths import path_of
from streamproof.stream.names import TRACE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.config import FilesSource

Columns = Mapping[str, str]
"""By name the type, as Spark says it in a word."""


@dataclass(frozen=True)
class Change:
    """A column that is not the same in all files of a source.

    Parameters
    ----------
    column
        Its name; `file` is one of those in which it is another than it was.
    found
        Its type there; None where the file does not have it.
    before
        What it was: its type, or None.
    """

    column: str
    file: str
    found: str | None
    before: str | None

    def note(self, source: str, *, declared: bool) -> Note:
        """What a person has to know of it, by name."""
        if self.before is None:
            said = f"has the column {self.column} ({self.found}), which earlier files do not have: the job does not read it."
            said += "" if declared else f' Declare schema in the configuration, with "{self.column} {self.found}", to read it.'
        elif self.found is None:
            said = f"has no column {self.column}, which earlier files have: it is null in the rows of that file."
        else:
            said = f"has the column {self.column} as {self.found}, and earlier files have it as {self.before}."
        return Note(NoteCode.SCHEMA_CHANGED, f"[source.{source}] {path_of(self.file)} {said}", source)


def changes(
    asked: Columns, files: Sequence[tuple[str, Columns]], *, declared: bool, of_paths: Sequence[str] = ()
) -> Iterator[Change]:
    """What the files of a source have differently from what is read, one change for each column and kind.

    Parameters
    ----------
    asked
        The columns that are read: those of the files that were there at the start, or those that are declared.
    files
        Files in the order in which they were met, one for each set of columns.
    declared
        Whether a person has said which columns are read: others are then left out on purpose, and said only where files differ in them.
    of_paths
        Columns that folders may say: a file need not have them.
    """
    aside = {name.lower() for name in (*of_paths, TRACE)}
    read = {name.lower(): (name, type_) for name, type_ in asked.items() if name.lower() not in aside}
    reference = read
    named: set[tuple[str, bool, bool]] = set()
    for number, (file, columns) in enumerate(files):
        found = {name.lower(): (name, type_) for name, type_ in columns.items() if name.lower() not in aside}
        if declared and number == 0:
            reference = found
        for lower, (name, before) in {**read, **reference, **found}.items():
            there = found[lower][1] if lower in found else None
            earlier = reference[lower][1] if lower in reference else before if there is None else None
            unread = there is None and lower not in read
            kind = (lower, there is None, earlier is None)
            if there != earlier and not unread and kind not in named:
                named.add(kind)
                yield Change(name, file, there, earlier)


@dataclass
class FolderNotices:
    """Looks what there is to say of the folder of one source.

    Parameters
    ----------
    path
        The whole path of the folder.
    """

    spark: "SparkSession"
    name: str
    source: "FilesSource"
    path: str
    _met: dict[str, str] = field(default_factory=dict)
    """The schemas of its files, in the order in which they were met, each with a file that has it."""

    def look(self) -> Iterator[Note]:
        seen = _jvm.seen_below(self.spark, self.name, self.path)
        for folder in seen.left_out:
            yield Note(NoteCode.SUBFOLDER_LEFT_OUT, f"[source.{self.name}] {left_out(self.source.path, [folder])}", self.name)
        yield from self._changes(seen)

    def _changes(self, seen: "_jvm.SeenBelow") -> Iterator[Note]:
        for schema, file in sorted(seen.schemas.items(), key=lambda entry: entry[1]):
            self._met.setdefault(schema, file)
        if not self._met or seen.asked is None:
            return
        asked = [field for field in _fields(seen.asked).items() if not field[0].startswith(_jvm.FROM_PATH)]
        of_paths = [column.removeprefix(_jvm.FROM_PATH) for column in _fields(seen.asked) if column.startswith(_jvm.FROM_PATH)]
        files = [(file, _fields(schema)) for schema, file in self._met.items()]
        declared = self.source.schema_ddl is not None
        for change in changes(dict(asked), files, declared=declared, of_paths=of_paths):
            yield change.note(self.name, declared=declared)


def _fields(schema: str) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in StructType.fromJson(json.loads(schema)).fields}
