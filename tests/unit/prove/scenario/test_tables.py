"""Tables of a scenario: what they hold, how they go on with the batches and with restarts, and what is refused."""

from decimal import Decimal

import pytest

from streamproof.config import load
from streamproof.errors import ScenarioError
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.scenario.scenario import load_scenario
from streamproof.prove.sources.tables import held_tables, places_of_tables, tables_at, write_tables

CONFIG = """\
[job]
entry = "job.py:priced"
[source.orders]
connector = "files"
path = "data"
format = "json"
schema = "id string, sku string"
[sink.priced]
connector = "files"
path = "out"
[table.prices]
connector = "files"
path = "prices"
refresh = "1 hour"
valid_from = "since"
"""
SCENARIO = """\
events = 100
batches = 4
[source.orders.columns]
id = { kind = "id" }
sku = { kind = "key", count = 5 }
"""
TABLE = """\
[table.prices]
schema = "sku string, price decimal(10,2), since timestamp, day date"
rows = [{ sku = "0", price = 1.5, since = "2026-01-05T09:00:00Z", day = 2026-01-05 }, { sku = "1" }]
changes = [{ batch = 2, rows = [] }, { batch = 3, rows = [{ sku = "1", price = 2 }] }]
"""


@pytest.fixture
def files(tmp_path):
    def files(table=TABLE, config=CONFIG):
        (tmp_path / "job.py").write_text("")
        (tmp_path / "streamproof.toml").write_text(config)
        (tmp_path / "scenario.toml").write_text(SCENARIO + table)
        return load(tmp_path), load_scenario(tmp_path)

    return files


def test_a_table_holds_one_thing_after_another(files):
    held = held_tables(*files())["prices"]

    assert [(begins, rows.num_rows) for begins, rows in held.states] == [(0, 2), (2, 0), (3, 1)]
    first = held.states[0][1].to_pylist()
    assert [str(first[0][name]) for name in ("price", "since", "day")] == ["1.50", "2026-01-05 09:00:00+00:00", "2026-01-05"]
    assert first[1]["price"] is None


def test_a_column_can_be_a_list_a_map_or_a_struct(files):
    nested = """\
[table.prices]
schema = "sku string, seen array<struct<At: timestamp, paid: decimal(9,2)>>, by map<bigint, array<string>>, one struct<a int, b date>"
rows = [
  { sku = "0", seen = [{ At = "2026-01-05T09:00:00Z", paid = 1.5 }], by = { "7" = ["x", "y"] }, one = { a = 1 } },
  { sku = "1", seen = [] },
]
"""
    first, second = held_tables(*files(nested))["prices"].states[0][1].to_pylist()

    assert (str(first["seen"][0]["At"]), first["seen"][0]["paid"]) == ("2026-01-05 09:00:00+00:00", Decimal("1.50"))
    assert (first["by"], first["one"]) == ([(7, ["x", "y"])], {"a": 1, "b": None})
    assert second == {"sku": "1", "seen": [], "by": None, "one": None}


@pytest.mark.parametrize("declared", ["array<interval>", "map<string>", "struct<interval>", "array"])
def test_a_type_that_is_not_known_is_said_by_its_column(files, declared):
    table = f'[table.prices]\nschema = "sku string, odd {declared}"\nrows = [{{ sku = "0" }}]\n'

    with pytest.raises(ScenarioError, match='cannot write the column "odd'):
        held_tables(*files(table))


def test_it_never_goes_back_and_a_start_is_ahead(files, tmp_path):
    config, scenario = files()
    write_tables(held_tables(config, scenario), tmp_path)
    binding = ScenarioBinding("", tmp_path, places_of_tables(config, tmp_path), None)
    table = tables_at(binding, config)["prices"]

    assert (table.refresh.total_seconds(), table.valid_from) == (0, "since")
    assert [table.at(batch).path.rpartition("/")[2] for batch in (0, 1, 2, 1, 3, 0)] == [
        "000000", "000000", "000002", "000002", "000003", "000003",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "has no [table.prices], and the job looks rows up in it"),
        (TABLE.replace("prices", "price"), "has [table.price], and the job has no such table. Did you mean"),
        ("[table.prices]\nrows = []", 'needs the key "schema"'),
        ('[table.prices]\nschema = "sku strin"\nrows = []', "schema gives the column"),
        (TABLE.replace('{ sku = "1" }', '{ skuu = "1" }'), 'has a row with "skuu", which is no column. Did you mean "sku"'),
        (TABLE.replace("price = 1.5", 'price = "dear"'), 'The values of the column "price" are not of its type'),
        (TABLE.replace("batch = 3", "batch = 2"), "changes at the batches [2, 2]"),
        (TABLE.replace("batch = 2", "batch = 0"), "batch"),
        (TABLE.replace("rows = [{", "row = [{"), 'has no key "row"'),
    ],
    ids=["none", "other", "no-schema", "schema", "column", "value", "order", "batch-0", "misspelt"],
)
def test_a_table_that_does_not_fit_the_job_is_refused(files, table, said):
    with pytest.raises(ScenarioError) as refused:
        held_tables(*files(table))

    assert said in str(refused.value)
