"""What the ledgers of services hold is told by its format, whatever it is found by (R30)."""

import json
from dataclasses import astuple

import pytest

from streamproof.connectors.kafka.client import UNKNOWN_FORMAT, Said
from streamproof.connectors.kafka.client import sink_error as of_kafka
from streamproof.connectors.kafka.ledger import entry_in as in_record
from streamproof.connectors.kafka.ledger import key_of
from streamproof.connectors.postgres import database
from streamproof.connectors.postgres.transactions import ENTRY
from streamproof.connectors.postgres.transactions import entry_in as in_row
from streamproof.core.manifest import LedgerEntry
from streamproof.errors import UnknownFormat

ONE = LedgerEntry("job", "kept", "i", 3, 0, "m", "f", 12, 7)
TEXT = ONE.to_json()
NEWER = json.dumps({**json.loads(TEXT), "format": 2})
ROW = astuple(ONE)[: len(ENTRY)]


@pytest.mark.parametrize(
    ("key", "text", "found"), [(key_of(ONE), TEXT, ONE), ("other", "text", None), ("other", '{"format": "avro"}', None)]
)
def test_a_record_is_an_entry_by_its_key(key, text, found):
    assert in_record(key.encode(), text.encode(), "The record") == found


@pytest.mark.parametrize("key", [key_of(ONE), '{"of": "another version"}', None], ids=["ours", "another", "none"])
def test_r30_a_record_of_another_format_is_refused_whatever_its_key_is(key):
    with pytest.raises(UnknownFormat, match="The record is a ledger entry of format 2"):
        in_record(key, NEWER.encode(), "The record")


def test_a_row_is_an_entry():
    assert in_row((*ROW, 1), "streamproof_ledger") == ONE


@pytest.mark.parametrize("number", [2, 0, "one"])
def test_r30_a_row_of_another_format_is_refused(number):
    with pytest.raises(
        UnknownFormat, match="The row of batch 3 of kept in the table streamproof_ledger is a ledger entry of format"
    ):
        in_row((*ROW, number), "streamproof_ledger")


def test_r30_what_a_task_has_found_is_said_by_the_driver():
    of_postgres = database.sink_error(database.Said(database.UNKNOWN_FORMAT, "what was found"), "postgresql://db/kept")

    for error in (of_kafka(Said(UNKNOWN_FORMAT, "what was found"), "kafka://broker/kept"), of_postgres):
        assert type(error) is UnknownFormat
        assert error.message == "what was found"
        assert "Run the version of Streamproof that wrote it" in error.remedy
