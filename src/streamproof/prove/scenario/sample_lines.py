"""Samples as text: JSON, one object a line, and CSV with a header. Each line is kept as it stands."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from streamproof.core.paths import display
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.left_out import LeftOut
from streamproof.prove.scenario.majority import of_field, of_json, strays
from streamproof.prove.scenario.sample_records import Found, Record
from streamproof.prove.scenario.sample_types import (
    ColumnType,
    StructOf,
    csv_type,
    from_csv,
    from_json,
    json_type,
    merged,
    settled,
    written,
)

_LONGEST = 16 * 1024 * 1024
"""Bytes of a line: where one is longer, the file is not text in lines."""
_BOM = b"\xef\xbb\xbf"
_NO_TEXT = {
    b"PAR1": "Parquet",
    b"Obj\x01": "an Avro object container",
    b"\x1f\x8b": "packed by gzip",
    b"PK\x03\x04": "a zip archive",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}
_LEADING_ZERO = re.compile(r"[+-]?0\d+")
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def json_lines(path: Path, most: int, *, forgiving: bool = False) -> Found:
    """The objects of a file; objects with other keys are merged, and what is missing is null."""
    left_out = LeftOut(path)
    raw: list[tuple[int, bytes]] = []
    objects: list[dict[str, Any]] = []
    more = False
    for number, line, text in lines_of(path, left_out):
        if len(raw) == most:
            more = True
            break
        try:
            value = object_in(path, number, text)
        except ScenarioError as problem:
            left_out.add(number, "no object of JSON", problem)
            continue
        raw.append((number, line))
        objects.append(value)
    left_out.require_fewer(len(raw))
    if forgiving:
        names = dict.fromkeys(name for value in objects for name in value)
        wrong = strays({name: [value.get(name) for value in objects] for name in names}, of_json)
        raw, objects = _without(left_out, wrong, raw, objects)
    inferred: ColumnType = StructOf(())
    for value in objects:
        inferred = merged(inferred, json_type(value))
    columns = settled(inferred)
    fields = dict(columns.fields) if isinstance(columns, StructOf) else {}
    records = [
        Record(line, {name: from_json(value.get(name), type_) for name, type_ in fields.items()}, number)
        for (number, line), value in zip(raw, objects, strict=True)
    ]
    types = {name: written(type_) for name, type_ in fields.items()}
    return Found(records, types, more, notes=tuple(left_out.notes(len(records))), left_out=left_out.count)


def csv_lines(path: Path, most: int, *, forgiving: bool = False) -> Found:
    """The lines after the header, one record each."""
    left_out = LeftOut(path)
    lines = lines_of(path, left_out)
    number, header, text = next(lines, (1, b"", ""))
    left_out.require_fewer(0)
    names = header_of(path, text) if header else []
    raw: list[tuple[int, bytes]] = []
    rows: list[list[str]] = []
    more = False
    for number, line, text in lines:
        if len(raw) == most:
            more = True
            break
        fields = row_in(path, number, text, names, left_out)
        if fields is not None:
            raw.append((number, line))
            rows.append(fields)
    left_out.require_fewer(len(raw))
    if forgiving:
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        raw, rows = _without(left_out, strays(columns, of_field), raw, rows)
    types: list[ColumnType] = ["null"] * len(names)
    for fields in rows:
        types = [merged(type_, csv_type(field)) for type_, field in zip(types, fields, strict=True)]
    records = [
        Record(line, {name: from_csv(field, type_) for name, field, type_ in zip(names, row, types, strict=True)}, number)
        for (number, line), row in zip(raw, rows, strict=True)
    ]
    notes = tuple(left_out.notes(len(records)))
    zeros = dict(_lost_zeros(names, types, rows))
    found = {name: written(type_) for name, type_ in zip(names, types, strict=True)}
    return Found(records, found, more, header=header, notes=notes, of_types=zeros, left_out=left_out.count)


def text_lines(path: Path, most: int) -> Found:
    """Plain lines, as Spark's source of texts gives them: one column, `value`."""
    left_out = LeftOut(path)
    records: list[Record] = []
    for number, line, text in lines_of(path, left_out):
        if len(records) == most:
            return Found(records, {"value": "string"}, True, notes=tuple(left_out.notes(most)), left_out=left_out.count)
        records.append(Record(line, {"value": text}, number))
    left_out.require_fewer(len(records))
    return Found(records, {"value": "string"}, False, notes=tuple(left_out.notes(len(records))), left_out=left_out.count)


def row_in(path: Path, number: int, text: str, names: Sequence[str], left_out: LeftOut) -> list[str] | None:
    """The fields of a line of CSV; None where it is left out: it is cut, or it is the header once more."""
    try:
        fields = fields_of(path, number, text)
    except ScenarioError as problem:
        left_out.add(number, "a quote that does not end in the line", problem)
        return None
    if fields == list(names):
        left_out.add(number, "the header again")
        return None
    if len(fields) > len(names) and not any(fields[len(names) :]):
        return fields[: len(names)]  # commas at the end of the line
    if len(fields) != len(names):
        other = ScenarioError(
            f"{display(path)} line {number} has {_counted(len(fields))}.",
            required=f"The header has {len(names)}: {', '.join(names)}.",
            remedy="Mend the line, or leave it out.",
        )
        left_out.add(number, f"{_counted(len(fields))}, and the header has {len(names)}", other)
        return None
    return fields


_Some = TypeVar("_Some")


def _without(
    left_out: LeftOut, wrong: Mapping[int, str], raw: Sequence[tuple[int, bytes]], values: Sequence[_Some]
) -> tuple[list[tuple[int, bytes]], list[_Some]]:
    """The lines and what they hold, without those that have a value of another kind."""
    for place, why in wrong.items():
        left_out.add(raw[place][0], why)
    kept = [place for place in range(len(raw)) if place not in wrong]
    return [raw[place] for place in kept], [values[place] for place in kept]


def lines_of(path: Path, left_out: LeftOut) -> Iterator[tuple[int, bytes, str]]:
    """The lines that are not blank: number from 1, bytes without the line end, text. Lines that are no text are left out."""
    with path.open("rb") as file:
        start = file.read(4096)
        _require_text(path, start)
        file.seek(len(_BOM) if start.startswith(_BOM) else 0)
        number = 0
        while line := file.readline(_LONGEST + 1):
            number += 1
            if len(line) > _LONGEST:
                while line and not line.endswith(b"\n"):
                    line = file.readline(_LONGEST)
                too_long = f"{display(path)} line {number} is longer than 16 MB."
                left_out.add(number, "longer than 16 MB", ScenarioError(too_long, required="A sample is one record a line."))
                continue
            line = line.removesuffix(b"\n").removesuffix(b"\r").removeprefix(_BOM)  # files were laid one after the other
            if line.strip():
                try:
                    text = _text(path, number, line)
                except ScenarioError as problem:
                    left_out.add(number, "no plain text in UTF-8", problem)
                else:
                    yield number, line, text


def _require_text(path: Path, start: bytes) -> None:
    for magic, what in _NO_TEXT.items():
        if start.startswith(magic):
            remedy = (
                "Unpack it."
                if "gzip" in what or "zip" in what
                else "Give it the ending of its format."
                if "text" not in what
                else _to_utf8("UTF-16")
            )
            raise ScenarioError(f"{display(path)} is {what}.", required="JSON and CSV are text in UTF-8.", remedy=remedy)
    if b"\0" in start:
        raise ScenarioError(
            f"{display(path)} holds zero bytes: it is binary, or text in another encoding.",
            required="JSON and CSV are text in UTF-8.",
        )


def _text(path: Path, number: int, line: bytes) -> str:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise ScenarioError(
            f"{display(path)} line {number} is not UTF-8: byte 0x{line[problem.start]:02x} in place {problem.start + 1}.",
            required="JSON and CSV are text in UTF-8.",
            remedy=_to_utf8("ISO-8859-1"),
        ) from None
    if "\r" in text or "\0" in text:
        what = "a carriage return" if "\r" in text else "a zero byte"
        raise ScenarioError(
            f"{display(path)} line {number} holds {what}.",
            required="A sample is one record a line: many readers end it there, or misread it.",
        )
    return text


def _to_utf8(encoding: str) -> str:
    return f"Convert it, from {encoding} by: iconv -f {encoding} -t UTF-8 old > new"


_KINDS = {list: "an array", str: "a text", int: "a number", float: "a number", bool: "true or false", type(None): "null"}


def object_in(path: Path, number: int, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as problem:
        if _with_comma(text):
            raise ScenarioError(
                f"{display(path)} line {number} is no object of JSON: a comma follows the object.",
                required="JSON is one object a line.",
                remedy="Take the commas off: sed 's/,[[:space:]]*$//' old > new",
            ) from None
        value, why = None, f"{problem.msg}, in place {problem.colno}"  # what stands there may be somebody's data: it is not shown
    except (ValueError, RecursionError):
        value, why = None, "a number or a depth that no reader takes"
    else:
        why = f"it is {_KINDS.get(type(value), 'something else')}"
    if isinstance(value, dict):
        return value
    whole = number == 1 and text.strip() in ("[", "{")
    is_array = whole or isinstance(value, list)
    raise ScenarioError(
        f"{display(path)} line {number} is no object of JSON: {why}.",
        required="JSON is one object a line.",
        remedy="Put each object on a line of its own: jq -c '.[]' old > new (for one object over several lines: jq -c . old > new)"
        if is_array
        else "Mend the line, or leave it out; a proof cuts some lines by itself.",
    )


def _with_comma(text: str) -> bool:
    """Whether the line is a whole object and a comma, as in the middle of an array."""
    if not text.rstrip().endswith("},"):
        return False
    try:
        return isinstance(json.loads(text.rstrip().removesuffix(",")), dict)
    except (ValueError, RecursionError):
        return False


def header_of(path: Path, text: str) -> list[str]:
    fields = fields_of(path, 1, text)
    if len(fields) == 1:
        for separator, what in _OTHER_SEPARATORS.items():
            if separator in text:
                raise ScenarioError(
                    f"{display(path)} has {what} between its columns.",
                    required="The columns of CSV are separated by commas.",
                )
    names = [field or f"_c{place}" for place, field in enumerate(fields)]  # as Spark calls them
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ScenarioError(f'{display(path)} line 1 has the column "{twice}" twice.', remedy="Give one of them another name.")
    return names


def fields_of(path: Path, number: int, text: str) -> list[str]:
    try:
        return next(csv.reader([text], strict=True))
    except csv.Error:
        raise ScenarioError(
            f"{display(path)} line {number} has a quote that does not end in it.",
            required="A sample is one record a line, in CSV too: a proof moves, repeats and cuts lines. (The source of a job does take line ends in quotes.)",
            remedy="Put something else in the place of the line end, such as a blank, or leave the record out.",
        ) from None


def _counted(fields: int) -> str:
    return "one field" if fields == 1 else f"{fields} fields"


def _lost_zeros(names: Sequence[str], types: Sequence[ColumnType], rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    for place, (name, type_) in enumerate(zip(names, types, strict=True)):
        shown = next((row[place] for row in rows if _LEADING_ZERO.fullmatch(row[place])), None) if type_ == "long" else None
        if shown is not None:
            yield name, f'{name} is read as a number, as Spark infers it: "{shown}" becomes {int(shown)}.'
