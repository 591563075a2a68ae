"""Each mistake in the file is named with its line, what was found, what is required, and the nearest valid name."""

import pytest

from streamproof.errors import ConfigurationError
from unit.config.conftest import GOOD

FILE = "my_job/streamproof.toml"


def test_a_misspelt_key_as_ux_shows_it(loaded):
    with pytest.raises(ConfigurationError) as raised:
        loaded(("lag =", "lagg ="))

    assert raised.value.message == f'{FILE} line 10: [source.trades] event_time has no key "lagg". Did you mean "lag"?'
    assert raised.value.required == "It takes column (required), unit, zone, format, lag, max_future, idle_after."


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[sink.exposure]", "[snk.exposure]", "line 11: the file has no table [snk]. Did you mean [sink]?"),
        ("entry =", "entri =", 'line 2: [job] has no key "entri". Did you mean "entry"?'),
        ('entry = "job.py:risk_exposure"\n', "", 'line 1: [job] needs the key "entry".'),
        ("job.py:risk_exposure", "job.risk_exposure", 'line 2: [job] entry is "job.risk_exposure".'),
        ("job.py:risk_exposure", "jb.py:risk_exposure", "line 2: [job] entry names jb.py, and there is no such file beside it."),
        ('"10 seconds"\n[', '"10 sekonds"\n[', 'line 4: [job] trigger is "10 sekonds".'),
        ('"10 seconds"\n[', '"available-nwo"\n[', 'line 4: [job] trigger is "available-nwo". Did you mean "available-now"?'),
        (
            '"10 seconds"\n[',
            '"real-time 3 seconds"\n[',
            "line 4: [job] trigger has batches of 3 seconds",
        ),
        (
            '"10 seconds"\n[',
            '"real-time soon"\n[',
            'line 4: [job] trigger is "real-time soon"',
        ),
        ('"files"', '"delta"', 'line 6: [source.trades] connector is "delta", which is not there yet.'),
        ('"files"', '"file"', 'line 6: [source.trades] connector is "file", which is no connector. Did you mean "files"?'),
        ('"files"', "7", "line 6: [source.trades] connector is 7."),
        ('path = "data/trades"', 'path = ""', "line 7: [source.trades] path is empty."),
        ('path = "data/trades"\n', "", 'line 5: [source.trades] needs the key "path".'),
        ('format = "json"', 'format = "jsn"', 'line 8: [source.trades] format is "jsn". Did you mean "json"?'),
        (
            'schema = "trade_id string,',
            'schema = "trade_id strng,',
            'line 9: [source.trades] schema gives the column "trade_id" the type "strng"',
        ),
        (", ts long", ", ts", 'line 9: [source.trades] schema has the part "ts", which is no column with a type.'),
        ("client string", "TRADE_ID string", 'line 9: [source.trades] schema has the column "TRADE_ID" twice.'),
        (
            '"ts"',
            '"tss"',
            'line 10: [source.trades] event_time.column is "tss", which is no column of the schema. Did you mean "ts"?',
        ),
        ('unit = "milliseconds", ', "", 'line 10: [source.trades] event_time needs the key "unit": the column "ts" is a long.'),
        ("ts long", "ts timestamp", 'line 10: [source.trades] event_time.unit is for numbers, and the column "ts" is a timestamp.'),
        (
            '"ts", ',
            '"ts", format = "yyyy", ',
            'line 10: [source.trades] event_time.format is for texts, and the column "ts" is a long.',
        ),
        (
            '"milliseconds"',
            '"milisecond"',
            'line 10: [source.trades] event_time.unit is "milisecond". Did you mean "milliseconds"?',
        ),
        (
            '"ts", ',
            '"ts", zone = "Europe/Berln", ',
            'line 10: [source.trades] event_time.zone is "Europe/Berln", which is no known time zone. Did you mean "Europe/Berlin"?',
        ),
        ('lag = "10 seconds"', "lag = 10", "line 10: [source.trades] event_time.lag is 10."),
        ('lag = "10 seconds"', 'lag = "10"', 'line 10: [source.trades] event_time.lag is "10", which is not a duration.'),
        (
            'format = "json"',
            'format = "csv"\ncsv = { delimitr = ";" }',
            'line 9: [source.trades] csv has no key "delimitr". Did you mean',
        ),
        ('format = "json"', 'format = "csv"\ncsv = { delimiter = ";;" }', 'line 9: [source.trades] csv.delimiter is ";;".'),
        ('format = "json"', 'format = "csv"\ncsv = { delimiter = \'"\' }', "line 9: [source.trades] csv has the delimiter"),
        ('format = "json"', 'format = "csv"\ncsv = { heder = true }', 'csv has no key "heder". Did you mean "header"?'),
        ('format = "json"', 'format = "json"\ncsv = { delimiter = ";" }', "has a table csv, and its format is"),
        (
            'format = "json"\nschema = "trade_id string',
            'format = "csv"\nschema = "trade_id array<string>',
            'line 9: [source.trades] schema gives the column "trade_id" the type "array", and a field of CSV holds one value.',
        ),
        (
            'format = "json"\nschema = "trade_id string',
            'format = "text"\nschema = "trade_id long',
            "and a line of text is one column, the first.",
        ),
        (
            'connector = "files"\npath = "data/trades"\nformat = "json"',
            'connector = "rate"\nrows_per_second = 5',
            "has a schema, and the source rate makes its own columns",
        ),
        (
            'connector = "files"\npath = "data/trades"\nformat = "json"\nschema = "trade_id string, client string, notional decimal(10,2), ts long"',
            'connector = "rate"\nrows_per_second = 5\nformat = "json"',
            'format is "json", and the source rate has none.',
        ),
        ("\n[sink.", "\nfiles_per_batch = 0\n[sink.", "line 11: [source.trades] files_per_batch is 0."),
        ("\n[sink.", "\nfiles_per_batch = true\n[sink.", "line 11: [source.trades] files_per_batch is true."),
        ("partitions = 2", "partitions = [2]", "line 15: [spark] sql.shuffle.partitions is a list."),
        ("[source.trades]", "[source]", "line 5: [source] source must hold one table for each name."),
        ("[source.trades]", '[source."my-trades"]', 'line 5: [source.my-trades] "my-trades" is not a name that Python can use.'),
    ],
)
def test_a_mistake_is_named_with_its_place(loaded, old, new, message):
    with pytest.raises(ConfigurationError) as raised:
        loaded((old, new))

    assert f"{FILE} {message}" in str(raised.value) or message in raised.value.message
    assert raised.value.required or raised.value.remedy or "no such file" in message or "twice" in message


def test_json_needs_a_schema_and_parquet_does_not(loaded):
    schema = 'schema = "trade_id string, client string, notional decimal(10,2), ts long"\n'

    with pytest.raises(ConfigurationError, match=r'line 5: \[source.trades\] needs the key "schema" for format "json"\.'):
        loaded((schema, ""))
    assert loaded((schema, ""), ('format = "json"', 'format = "parquet"')).source["trades"].schema_ddl is None
    assert loaded((schema, ""), ('format = "json"', 'format = "orc"')).source["trades"].schema_ddl is None


def test_avro_in_files_says_its_schema_and_needs_no_registry_and_text_has_one_column(loaded):
    schema = 'schema = "trade_id string, client string, notional decimal(10,2), ts long"\n'
    event_time = next(line for line in GOOD.splitlines() if line.startswith("event_time"))

    assert loaded((schema, ""), ('format = "json"', 'format = "avro"')).source["trades"].schema_ddl is None
    assert (
        loaded((schema, ""), (event_time, ""), ('format = "json"', 'format = "text"')).source["trades"].schema_ddl == "value string"
    )


def test_all_problems_are_said_at_once_in_the_order_of_the_file_each_once(loaded):
    with pytest.raises(ConfigurationError) as raised:
        loaded(
            ('"10 seconds"\n[', '"sometimes"\n['),
            ("lag =", "lagg ="),
            ('connector = "files"\npath = "out', 'conector = "files"\npath = "out'),
        )

    lines = [line for line in str(raised.value).splitlines() if line.startswith(FILE)]
    assert [line.split(":")[0].rpartition(" ")[2] for line in lines] == ["4", "10", "12"], lines


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('"files"', "files", 6, "invalid value"),
        ("[job]", "[job", 1, "expected ']'"),
        ('path = "data/trades"', 'connector = "files"', 7, "cannot overwrite a value"),
        ('"elsewhere"\n', '"elsewhere\n', 17, "illegal character"),
    ],
)
def test_what_is_not_toml_is_named_with_its_line(loaded, old, new, line, what):
    with pytest.raises(ConfigurationError) as raised:
        loaded((old, new))

    assert raised.value.message.startswith(f"{FILE} line {line}: not valid TOML: ")
    assert what in raised.value.message.lower()


def test_a_file_that_is_not_utf8(folder, loaded):
    from streamproof.config import load

    (folder / "streamproof.toml").write_bytes(b'[job]\nentry = "\xff"\n')

    with pytest.raises(ConfigurationError, match=r"line 2: the file is not UTF-8 text"):
        load("my_job")


def test_an_empty_file_says_what_a_file_needs(folder):
    from streamproof.config import load

    (folder / "streamproof.toml").write_text("")

    with pytest.raises(ConfigurationError) as raised:
        load("my_job")

    assert "has no table [job]" in str(raised.value)
    assert "has no table [source.NAME]" in str(raised.value)


def test_sources_must_be_the_parameters_of_the_job(loaded):
    config = loaded()

    config.require_sources(("trades",))
    with pytest.raises(ConfigurationError) as raised:
        config.require_sources(("trade",))
    assert 'line 5: [source.trades] is a source that risk_exposure has no parameter for. Did you mean "trade"?' in str(raised.value)
    assert "has no table [source.trade], and risk_exposure reads trade." in str(raised.value)


def test_sinks_must_be_outputs_of_the_job(loaded):
    config = loaded()

    config.require_sinks(("exposure", "late"), needed=("exposure",))
    with pytest.raises(
        ConfigurationError, match=r"line 11: \[sink\.exposure\] is a sink for an output that risk_exposure does not have"
    ):
        config.require_sinks(("exposures",))
    with pytest.raises(ConfigurationError, match=r"has no table \[sink\.totals\], and risk_exposure has the output totals"):
        config.require_sinks(("exposure", "totals"), needed=("totals",))


def test_numbers_in_quotes_have_a_unit(loaded):
    """`ts string` with a unit is a number in quotes; with a pattern besides it is refused, and the remedy names both ways out."""
    text = ("ts long", "ts string")
    assert loaded(text).source["trades"].event_time.unit == "milliseconds"
    with pytest.raises(ConfigurationError) as raised:
        loaded(text, ('"ts", ', '"ts", format = "yyyy", '))
    assert 'event_time has unit and format, and the column "ts" is a string.' in raised.value.message
    assert "Leave format out for numbers in quotes" in raised.value.remedy


def test_a_number_that_is_read_by_a_pattern_is_declared_as_a_text(loaded):
    with pytest.raises(ConfigurationError) as raised:
        loaded(('"ts", ', '"ts", format = "yyyyMMdd", '))
    assert 'is declared as a text: "ts string"' in raised.value.remedy
