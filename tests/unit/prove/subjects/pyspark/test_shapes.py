"""The events are written as the job reads them, or the proof says which option it cannot serve."""

import json

import pytest

from streamproof.errors import ScenarioError
from streamproof.prove.subjects.pyspark.shapes import Shape, folder_of, shape_of, write_spoilt


def written(tmp_path, source: str, options: dict[str, str], *lines: str, spoilt: tuple[int, ...] = ()) -> bytes:
    folder = tmp_path / "events" / "clicks"
    folder.mkdir(parents=True)
    (folder / f"clicks-00000.{source}").write_text("".join(f"{line}\n" for line in lines))
    write_spoilt(folder, {f"clicks-00000.{source}": spoilt})
    made = folder_of(shape_of(source, options), folder)
    assert made.name == "clicks", "an input is known by the name of its folder"
    assert folder_of(shape_of(source, options), folder) == made, "it is written once"
    return (made / f"clicks-00000.{source}").read_bytes()


def test_objects_over_several_lines_are_a_list_in_each_file(tmp_path):
    found = written(tmp_path, "json", {"multiLine": "true"}, '{"id": 1}', '{"id": 2', '{"id": 3}', spoilt=(1,))

    assert json.loads(found) == [{"id": 1}, {"id": 3}], "one spoilt record would take the whole file with it"


def test_a_csv_reader_of_several_lines_gets_no_open_quote(tmp_path):
    found = written(tmp_path, "csv", {"header": "true", "multiLine": "true"}, "id,user", '1,"a', "2,b", spoilt=(0,))

    assert found == b"id,user\n2,b\n"


def test_a_reader_without_header_gets_files_without_header(tmp_path):
    assert written(tmp_path, "csv", {"header": "false"}, "id,user", "1,a", "2,b") == b"1,a\n2,b\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sep": ";"}, 'id;user\n1;a,b\n2;"c;d"\n'),
        ({"delimiter": "\\t"}, "id\tuser\n1\ta,b\n2\tc;d\n"),
        ({"sep": ";", "quote": "'"}, "id;user\n1;a,b\n2;'c;d'\n"),
        ({"lineSep": "\r\n"}, 'id,user\r\n1,"a,b"\r\n2,c;d\r\n'),
        ({"header": "true"}, 'id,user\n1,"a,b"\n2,c;d\n'),
    ],
)
def test_columns_are_separated_and_quoted_as_the_reader_takes_them(options, expected, tmp_path):
    assert written(tmp_path, "csv", options, "id,user", '1,"a,b"', "2,c;d").decode() == expected


def test_text_has_the_encoding_of_the_reader(tmp_path):
    assert written(tmp_path, "csv", {"encoding": "ISO-8859-1"}, "id", "ü").decode("latin-1") == "id\nü\n"


def test_a_reader_that_stops_at_a_spoilt_record_gets_none(tmp_path):
    assert written(tmp_path, "json", {"mode": "failfast"}, '{"id": 1}', '{"id"', spoilt=(1,)) == b'{"id": 1}\n'


def test_other_readers_get_them_and_the_files_as_they_are(tmp_path):
    assert written(tmp_path, "json", {"mode": "DROPMALFORMED"}, '{"id": 1}', '{"id"', spoilt=(1,)) == b'{"id": 1}\n{"id"\n'
    assert shape_of("json", {"timestampFormat": "yyyy"}) == Shape("json")


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("text", {"wholetext": "true"}, "wholetext"),
        ("csv", {"sep": "::"}, "sep"),
        ("csv", {"encoding": "klingon"}, "encoding"),
    ],
)
def test_an_option_that_cannot_be_served_is_refused_by_name(source, options, said):
    with pytest.raises(ScenarioError, match=f'the option {said} = "') as refused:
        shape_of(source, options)

    assert refused.value.required
