"""The twin of a lookup: which row of a table a row gets, and what a model makes of the states of a table, in plain Python."""

import math

import pytest

from streamproof.prove.oracle.arrived import Arrived, BatchRead, RowFate
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.model import simulate
from streamproof.prove.oracle.operators import twin_of
from streamproof.prove.oracle.query import query_asked
from streamproof.prove.oracle.tables import PlainTable

GIVEN = {"table": "prices", "on": "sku", "columns": None, "how": "inner", "as_of": None}
PRICES = PlainTable([{"sku": "a", "price": 1}, {"sku": None, "price": 2}, {"sku": "b", "price": 3}])
RATES = PlainTable(
    [
        {"sku": "a", "price": 1, "since": 0, "until": 10},
        {"sku": "a", "price": 2, "since": 10, "until": 20},
        {"sku": "a", "price": 3, "since": 30, "until": None},
    ],
    "since",
    "until",
)


@pytest.mark.parametrize(("values", "number"), [(["a"], 0), (["b"], 2), (["c"], None), ([None], None)])
def test_a_row_gets_the_row_of_its_key_and_null_matches_nothing(values, number):
    assert twin_of("lookup", GIVEN).finder(PRICES).find(values) == number


@pytest.mark.parametrize(
    ("instant", "number"), [(-1, None), (0, 0), (9, 0), (10, 1), (19, 1), (20, None), (29, None), (30, 2), (10**9, 2), (None, None)]
)
def test_a_row_of_the_table_holds_from_one_instant_on_and_until_another(instant, number):
    assert twin_of("lookup", {**GIVEN, "as_of": "at"}).finder(RATES).find(["a"], instant) == number


def test_of_numbers_nan_is_one():
    table = PlainTable([{"sku": math.nan}, {"sku": 0.0}])

    assert twin_of("lookup", GIVEN).finder(table).find([math.nan]) == 0
    assert twin_of("lookup", GIVEN).finder(table).find([-0.0]) == 1


def test_two_rows_of_one_key_are_no_table():
    with pytest.raises(ValueError, match="has 2 rows for"):
        twin_of("lookup", GIVEN).finder(PlainTable([{"sku": "a"}, {"sku": "a"}])).find(["a"])


@pytest.mark.parametrize(
    ("given", "on", "added"),
    [
        ({}, {"sku": "sku"}, ["price", "since", "until"]),
        ({"on": ("sku", "price")}, {"sku": "sku", "price": "price"}, ["since", "until"]),
        ({"on": {"product": "sku"}, "columns": "price"}, {"product": "sku"}, ["price"]),
        ({"columns": ["until", "price"]}, {"sku": "sku"}, ["until", "price"]),
    ],
)
def test_it_reads_the_call_as_it_was_written(given, on, added):
    twin = twin_of("lookup", {**GIVEN, **given})

    assert (twin.on, twin.added(PlainTable([]), ["sku", "price", "since", "until"])) == (on, added)


def test_the_validity_is_not_added():
    assert twin_of("lookup", GIVEN).added(RATES, ["sku", "price", "since", "until"]) == ["price"]


def test_the_model_goes_by_what_the_table_held_in_the_batch_that_has_read_a_record():
    query = query_asked("priced", Asked("orders").then("lookup", **GIVEN), None)
    first = {"e-1": Arrived("e-1", RowFate.UNMATCHED), "e-2": Arrived("e-2", RowFate.UNMATCHED)}
    later = {"e-1": Arrived("e-1"), "e-2": Arrived("e-2")}
    batches = [BatchRead(0, 0, files=("f0",), tables=(("prices", 0),)), BatchRead(1, 0, files=("f1",), tables=(("prices", 1),))]
    by_tables = {(("prices", 0),): first, (("prices", 1),): later}

    found = simulate(query, first, batches, {"f0": ["e-1"], "f1": ["e-2"]}, by_tables)

    assert query.tables == ("prices",)
    assert (found.account.unmatched, found.account.emitted, found.survivors) == (1, 1, ("e-2",))
    assert found.fates == {"e-1": ("unmatched", 0), "e-2": ("emitted", 1)}
