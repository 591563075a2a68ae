"""Events in files of CSV, text and Avro: values as they stand in lines, and faulty ones that no reader takes for sound."""

import csv
import io
import math

import fastavro
import pyarrow.orc as po
import pytest

from streamproof.config import FilesSource
from streamproof.errors import ScenarioError
from streamproof.prove.artifacts.row_files import rows_of
from streamproof.prove.scenario.event_lines import header_of, in_lines
from streamproof.prove.scenario.generate import Event, Kind
from streamproof.prove.scenario.schedule import write_events

COLUMNS = ["id", "note", "yes", "v"]
SCHEMA = "id string, note string, yes boolean, v double"
ODD = {"id": "t-1", "note": 'a;b, "c"\nd', "yes": True, "v": 1.5}
EMPTY = {"id": "", "note": None, "yes": None, "v": None}


def source(form: str = "csv", **dialect: object) -> FilesSource:
    schema = "value string" if form == "text" else SCHEMA
    return FilesSource.model_validate(
        {"connector": "files", "path": "x", "format": form, "schema": schema} | ({"csv": dialect} if dialect else {})
    )


def event(values: dict[str, object], *, kind: Kind = Kind.OK, arrival: int = 0, partition: int = 0) -> Event:
    return Event(f"e-{arrival:06d}", kind, values, None, b"{}", arrival, 0, partition)


def fields(record: bytes, delimiter: str = ",") -> list[str]:
    (found,) = csv.reader(io.StringIO(record.decode(), newline=""), delimiter=delimiter)
    return found


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_values_stand_in_csv_as_another_reader_finds_them(delimiter: str) -> None:
    traced, plain = (in_lines([event(ODD)], source(delimiter=delimiter), COLUMNS, trace=trace)[0].record for trace in (True, False))

    assert fields(traced, delimiter) == ["e-000000", "t-1", 'a;b, "c"\nd', "true", "1.5"]
    assert fields(plain, delimiter) == fields(traced, delimiter)[1:]


def test_lines_of_text_with_columns_of_folders_are_not_written() -> None:
    with pytest.raises(ScenarioError, match="named by folders"):
        in_lines([event(ODD)], source("text"), ["value", "day"], trace=False)


def test_an_empty_text_is_told_from_a_null_and_from_the_text_that_stands_for_one() -> None:
    values = {**EMPTY, "id": "NULL"}

    assert in_lines([event(EMPTY)], source(), COLUMNS, trace=False)[0].record == b'"",,,'
    assert in_lines([event(values)], source(null="NULL"), COLUMNS, trace=False)[0].record == b'"NULL",NULL,NULL,NULL'
    assert in_lines([event(ODD)], source(escape="\\"), ["note"], trace=False)[0].record == b'"a;b, \\"c\\"\nd"'


def test_every_second_file_has_its_columns_in_another_order_where_a_header_says_so() -> None:
    assert header_of(source(), COLUMNS, 0, trace=True) == b"_trace,id,note,yes,v"
    assert header_of(source(), COLUMNS, 1, trace=False) == b"v,yes,note,id"
    assert fields(in_lines([event(ODD, partition=1)], source(), COLUMNS, trace=False)[0].record)[0] == "1.5"
    assert header_of(source(header=False), COLUMNS, 1, trace=True) is None
    assert fields(in_lines([event(ODD, partition=1)], source(header=False), COLUMNS, trace=False)[0].record)[0] == "t-1"
    assert header_of(source("text"), ["value"], 0, trace=True) is None


def test_malformed_records_are_so_in_several_ways_and_keep_their_trace_in_front() -> None:
    made = [event({**ODD, "note": "x"}, kind=Kind.MALFORMED, arrival=number) for number in range(4)]
    records = [each.record for each in in_lines(made, source(), COLUMNS, trace=True)]

    assert records == [
        b"e-000000,\xff\xfet-1,x,true,1.5",
        b"e-000001,t-1,x,true",
        b'e-000002,"t-1,x,true,1.5',
        b'e-000003,""xt-1,x,true,1.5',
    ]
    two_lines = [event({**ODD, "note": "x;\ny"}, kind=Kind.MALFORMED, arrival=number) for number in range(4)]
    assert not any(b"\n" in each.record for each in in_lines(two_lines, source(), COLUMNS, trace=True)), (
        "what is no record is a line"
    )
    alone = in_lines(made, source(), ["note"], trace=False)
    assert {each.record for each in alone} == {b"\xff\xfex"}, "of one column nothing can be missing"


def test_a_line_of_text_has_no_line_end() -> None:
    made = [event({"value": "a, b"}), event({"value": "c"}, kind=Kind.MALFORMED, arrival=1), event({"value": None}, arrival=2)]
    records = [each.record for each in in_lines(made, source("text"), ["value"], trace=True)]

    assert records == [b"e-000000\ta, b", b"e-000001\t\xff\xfec", b"e-000002\t"]
    with pytest.raises(ScenarioError, match="has none"):
        in_lines([event({"value": "a\nb"})], source("text"), ["value"], trace=True)


def test_files_begin_with_their_header_and_avro_and_orc_hold_the_types(tmp_path) -> None:
    made = [event(ODD), event(EMPTY, arrival=1, partition=1)]
    lines = in_lines(made, source(), COLUMNS, trace=True)
    traces = write_events(
        lines, tmp_path, "csv", schema_columns={}, header=lambda number: header_of(source(), COLUMNS, number, trace=True)
    )
    types = {"id": "string", "note": "string", "yes": "boolean", "v": "double"}
    write_events(made, tmp_path / "avro", "avro", schema_columns=types)
    write_events(made, tmp_path / "orc", "orc", schema_columns=types)

    assert traces == {"part-0-0.csv": ["e-000000"], "part-0-1.csv": ["e-000001"]}
    assert (tmp_path / "part-0-1.csv").read_bytes() == b'_trace,v,yes,note,id\ne-000001,,,,""\n'
    with (tmp_path / "avro" / "part-0-0.avro").open("rb") as file:
        assert list(fastavro.reader(file)) == [{"_trace": "e-000000", **ODD}]
    assert po.read_table(tmp_path / "orc" / "part-0-0.orc").to_pylist() == [{"_trace": "e-000000", **ODD}]
    with pytest.raises(ScenarioError, match="to Parquet"):
        write_events(made, tmp_path / "no", "avro", schema_columns={"note": "map<string,string>"})


@pytest.mark.parametrize("content", [b'"a","b"\n1\n', b'"a"\n"x', b'"a"\n1', b'"a"\n"x"y\n'])
def test_a_file_of_rows_that_is_cut_short_is_no_file_of_rows(tmp_path, content: bytes) -> None:
    path = tmp_path / "part.csv"
    path.write_bytes(content)

    with pytest.raises(ValueError, match=r"cut short|fields"):
        rows_of(path)


def test_rows_of_csv_tell_texts_from_numbers(tmp_path) -> None:
    path = tmp_path / "part.csv"
    path.write_bytes(b'"a","b","c","d","at"\n"7",7,,true,2026-01-05T09:00:00.000000Z\n"","-1.5E3","x ""y""\nz",NaN,\n')

    first, second = rows_of(path, times=frozenset({"at"}))

    assert first == {"a": "7", "b": 7, "c": None, "d": True, "at": 1767603600000000}
    assert (second["a"], second["b"], second["c"], second["at"]) == ("", "-1.5E3", 'x "y"\nz', None)
    assert math.isnan(second["d"])
