"""What to write for a source that declares no event time: for the column that looks like one, and by its type."""

import pytest

from streamproof.config.columns import event_time_of


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ({"id": "string", "at": "string"}, 'event_time = { column = "at", format = "yyyy-MM-dd HH:mm:ss", lag = "10 seconds" }'),
        ({"id": "string", "ts": "long"}, 'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }'),
        ({"id": "string", "paid": "timestamp"}, 'event_time = { column = "paid", lag = "10 seconds" }'),
        ({"date": "string", "created_at": "timestamp"}, 'event_time = { column = "created_at", lag = "10 seconds" }'),
        ({"eventTime": "decimal(20,3)"}, 'event_time = { column = "eventTime", unit = "milliseconds", lag = "10 seconds" }'),
        ({"id": "string", "state": "string", "v": "double"}, 'event_time = { column = "...", lag = "10 seconds" }'),
        ({"at": "array<string>"}, 'event_time = { column = "...", lag = "10 seconds" }'),
        ({}, 'event_time = { column = "...", lag = "10 seconds" }'),
    ],
)
def test_the_line_is_of_the_type_of_the_column(columns, line):
    assert event_time_of(columns).splitlines()[0] == line


def test_a_text_is_told_of_format_and_a_number_of_unit():
    assert "format says how it is written. Leave it out for ISO 8601" in event_time_of({"at": "string"})
    assert "unit says what it counts" in event_time_of({"at": "long"})
