"""The events of a sample in the shape in which the job's reader takes them: its options decide how a file is written (R24: the same in every run)."""

import codecs
import csv
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamproof.core.ids import new_id
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.schedule import set_age

SPOILT = "{}.spoilt"
"""Beside the folder of an input: as JSON, by file the places of the events that are spoilt on purpose."""
_SHAPES = "shapes"
_NOT_SERVED = {
    "wholetext": "a whole file would be one row, and a row would be many events",
    "recordname": "the files of a sample have no such name",
    "avroschemaurl": "a proof reads no schema from elsewhere",
}
_TRUE = ("true", "1")


@dataclass(frozen=True)
class Shape:
    """How a text file is written.

    Parameters
    ----------
    source
        "json" or "csv".
    spoilt
        Whether records that are cut short stand in it.
    """

    source: str
    multi_line: bool = False
    header: bool = True
    separator: str = ","
    quote: str = '"'
    escape: str = "\\"
    encoding: str = "utf-8"
    line_end: str = "\n"
    spoilt: bool = True

    @property
    def as_it_is(self) -> bool:
        """Whether the files of the sample are right as they are."""
        return self == Shape(self.source)

    @property
    def key(self) -> str:
        return hashlib.sha256(repr(self).encode()).hexdigest()[:12]


def shape_of(source: str, options: Mapping[str, Any]) -> Shape:
    """The shape that a reader of JSON or CSV asks for.

    Raises
    ------
    ScenarioError
        If an option asks for what a proof cannot write; it is named.
    """
    said = {key.lower(): value for key, value in options.items()}
    refuse_not_served(source, options)
    multi_line = _is_true(said.get("multiline"))
    stops = str(said.get("mode", "")).upper() == "FAILFAST"
    encoding = str(said.get("encoding") or said.get("charset") or "utf-8")
    try:
        encoding = codecs.lookup(encoding).name
    except LookupError:
        raise _refused(source, "encoding", encoding, "Python knows no encoding of that name") from None
    line_end = str(said.get("linesep") or "\n")
    if source == "json":
        return Shape("json", multi_line=multi_line, encoding=encoding, line_end=line_end, spoilt=not (stops or multi_line))
    separator = str(said.get("sep") or said.get("delimiter") or ",").replace("\\t", "\t")
    quote, escape = str(said.get("quote", '"') or ""), str(said.get("escape", "\\") or "")
    for name, value in (("sep", separator), ("quote", quote), ("escape", escape)):
        if len(value) > 1:
            raise _refused(source, name, value, "a proof writes one character there")
    return Shape(
        "csv",
        header=_is_true(said.get("header", "true")),
        separator=separator,
        quote=quote,
        escape=escape,
        encoding=encoding,
        line_end=line_end,
        spoilt=not (stops or multi_line),  # an open quote would take the records after it
    )


def refuse_not_served(source: str, options: Mapping[str, Any]) -> None:
    """ScenarioError if an option of a reader asks for what a proof cannot do."""
    for key, value in options.items():
        if key.lower() in _NOT_SERVED and str(value).lower() not in ("false", ""):
            raise _refused(source, key, value, _NOT_SERVED[key.lower()])


def folder_of(shape: Shape, folder: Path) -> Path:
    """The folder with the events in this shape, next to the folder of the sample's own. It is written once for all runs.

    Parameters
    ----------
    folder
        That of the sample's own files, lines in UTF-8, whose columns are separated by commas.
    """
    if shape.as_it_is:
        return folder
    made = folder.parent / _SHAPES / shape.key / folder.name
    if made.is_dir():
        return made
    spoilt = _spoilt(folder)
    being_made = made.with_name(f".{folder.name}.{new_id()}")
    being_made.mkdir(parents=True)
    for number, file in enumerate(sorted(folder.iterdir())):
        lines = [line for line in file.read_bytes().split(b"\n") if line]
        written = _written(lines, shape, set(spoilt.get(file.name, ())))
        (being_made / file.name).write_bytes(written.encode(shape.encoding))
        set_age(being_made / file.name, number)
    try:
        os.rename(being_made, made)  # noqa: PTH104 -- another run may have been first; then its folder is as good
    except OSError:
        if not made.is_dir():
            raise
    return made


def write_spoilt(folder: Path, places: Mapping[str, Sequence[int]]) -> None:
    """Notes which events of an input are spoilt on purpose."""
    Path(SPOILT.format(folder)).write_text(json.dumps({name: list(its) for name, its in places.items() if its}))


def _spoilt(folder: Path) -> dict[str, list[int]]:
    file = Path(SPOILT.format(folder))
    return dict(json.loads(file.read_text())) if file.is_file() else {}


def _written(lines: Sequence[bytes], shape: Shape, spoilt: set[int]) -> str:
    texts = [line.decode("utf-8", "replace") for line in lines]
    head, body = (texts[:1], texts[1:]) if shape.source == "csv" else ([], texts)
    body = [line for number, line in enumerate(body) if shape.spoilt or number not in spoilt]
    if shape.multi_line:
        return f"[{(',' + shape.line_end).join(body)}]{shape.line_end}"
    if shape.source == "csv":
        body = list(_csv(body, shape))
        head = list(_csv(head, shape)) if shape.header else []
    return "".join(f"{line}{shape.line_end}" for line in (*head, *body))


def _csv(lines: Sequence[str], shape: Shape) -> Iterator[str]:
    """Lines of the sample with the reader's own separator, quotes and escapes; a line stays as it is where these are the same."""
    if (shape.separator, shape.quote, shape.escape) == (",", '"', "\\"):
        yield from lines
        return
    for line in lines:
        text = io.StringIO()
        doubled = shape.escape in ("", shape.quote)
        writer = csv.writer(
            text,
            delimiter=shape.separator,
            quotechar=shape.quote or None,
            escapechar=None if doubled else shape.escape,
            doublequote=doubled,
            quoting=csv.QUOTE_MINIMAL if shape.quote else csv.QUOTE_NONE,
            lineterminator="",
        )
        writer.writerow(next(csv.reader([line]), []))
        yield text.getvalue()


def _is_true(value: Any) -> bool:
    return str(value).lower() in _TRUE


def _refused(source: str, option: str, value: Any, why: str) -> ScenarioError:
    return ScenarioError(
        f'The job reads {source} with the option {option} = "{value}", which a proof cannot serve: {why}.',
        required="The events are written as the job reads them: multiLine, header, sep, quote, escape, encoding, lineSep, mode.",
        remedy="Give a sample in the format that the job reads, and leave the option out, or make it an argument of the job (--set).",
    )
