"""Tables of a configuration: what is refused, with its line, and whether a job names those that are there."""

from types import SimpleNamespace

import pytest

import streamproof as sp
from streamproof.config import ChangesTable, DeltaTable, FilesTable, PostgresTable, load
from streamproof.connectors.lookups import looked
from streamproof.errors import ConfigurationError, UnknownFormat
from streamproof.runtime.binding.real_time import require_possible
from streamproof.runtime.binding.tables import require_tables
from streamproof.runtime.tables.pins import Pins
from streamproof.stream.node import source

JOB = """\
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
"""
TABLE = """\
[table.prices]
connector = "files"
path = "prices"
"""
ORDERS = sp.Stream(source("orders"))


@pytest.fixture
def configured(tmp_path):
    def configured(table=TABLE):
        (tmp_path / "job.py").write_text("")
        (tmp_path / "streamproof.toml").write_text(JOB + table)
        return load(tmp_path)

    return configured


def test_a_table_is_read_at_the_start_or_again_after_a_while(configured):
    (table,) = configured(TABLE).table.values()
    (again,) = configured(TABLE + 'refresh = "10 minutes"\n').table.values()

    assert (type(table), table.path, table.format, table.refresh) == (FilesTable, "prices", "parquet", None)
    assert again.refresh.total_seconds() == 600


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ('connector = "postgres"\nurl = "postgresql://app@db/shop"\ntable = "prices"', PostgresTable),
        ('connector = "delta"\npath = "prices"', DeltaTable),
        ('connector = "changes"\npath = "p"\nschema = "a string, b long"\nkey = "a"\norder_by = "b"', ChangesTable),
        ('connector = "files"\npath = "p"\nformat = "csv"\nschema = "sku string"\ncsv = { delimiter = ";" }', FilesTable),
        ('connector = "files"\npath = "p"\nvalid_from = "since"\nvalid_to = "until"', FilesTable),
    ],
    ids=["postgres", "delta", "changes", "csv", "validity"],
)
def test_where_a_table_is_says_its_connector(configured, table, kind):
    assert type(configured(f"[table.prices]\n{table}\n").table["prices"]) is kind


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('connector = "redis"', 'connector is "redis", which is no connector of tables'),
        ('connector = "kafka"\nservers = "a:9092"\ntopic = "t"\nschema = "a string"\nkey = "b"', 'names the column "b"'),
        ('connector = "file"\npath = "p"', 'Did you mean "files"?'),
        ('connector = "files"', 'needs the key "path"'),
        ('connector = "files"\npath = "p"\nrefesh = "1 minute"', 'has no key "refesh". Did you mean "refresh"?'),
        ('connector = "files"\npath = "p"\nrefresh = "soon"', 'refresh is "soon", which is not a duration'),
        ('connector = "files"\npath = "p"\nformat = "csv"', 'needs the key "schema" for format "csv"'),
        ('connector = "files"\npath = "p"\ncsv = { delimiter = ";" }', "has a table csv"),
        ('connector = "files"\npath = "p"\nvalid_to = "until"', "has valid_to and no valid_from"),
        ('connector = "files"\npath = "p"\nvalid_from = "a"\nvalid_to = "a"', "one column for valid_from and valid_to"),
        ('connector = "postgres"\nurl = "postgresql://db/shop"', 'needs the key "table"'),
        ('connector = "changes"\npath = "p"\nschema = "a string, b long"\nkey = "c"\norder_by = "b"', 'names the column "c"'),
        (
            'connector = "changes"\npath = "p"\nschema = "a string, b long"\nkey = "a"\norder_by = "b"\ndeleted = "b"',
            "which is long",
        ),
        ('connector = "changes"\npath = "p"\nschema = "a strin"\nkey = "a"\norder_by = "a"', "schema"),
    ],
)
def test_a_table_that_cannot_be_is_refused_with_its_line(configured, table, said):
    with pytest.raises(ConfigurationError) as refused:
        configured(f"[table.prices]\n{table}\n")

    assert said in str(refused.value)
    assert "[table.prices]" in str(refused.value)
    assert "streamproof.toml line 1" in str(refused.value)


def test_a_lookup_needs_its_table_and_a_table_its_lookup(configured):
    config, priced = configured(), ORDERS.lookup("prices", on="sku")

    require_tables(config, sp.Outputs(priced=priced))
    with pytest.raises(
        ConfigurationError, match=r'calls lookup\("price"\), and there is no \[table.price\]. Did you mean "prices"'
    ):
        require_tables(config, sp.Outputs(priced=ORDERS.lookup("price", on="sku")))
    with pytest.raises(ConfigurationError, match=r'calls rules\("limits"\), and there is no \[table.limits\]'):
        require_tables(config, sp.Outputs(priced=ORDERS.rules("limits", rule="rule", when="condition")))
    counted = {"state": {"n": "0L"}, "on_row": sp.step(set={"n": "n + 1"}, emit=sp.emit("n")), "ttl": "never"}
    kept = ORDERS.keyed("sku", **counted, initial=sp.initial("opening"))
    with pytest.raises(
        ConfigurationError, match=r'calls keyed\(initial=sp.initial\("opening"\)\), and there is no \[table.opening\]'
    ):
        require_tables(config, sp.Outputs(priced=kept))
    with pytest.raises(ConfigurationError, match=r"line 11: \[table.prices\] is a table that priced takes nothing from") as refused:
        require_tables(config, sp.Outputs(priced=ORDERS))
    assert "It calls no lookup(), no rules() and no sp.initial()." in str(refused.value)
    assert refused.value.remedy == "Take it out, or mend its name."


def test_with_the_real_time_trigger_a_lookup_is_refused(configured):
    config = configured()
    kafka = 'connector = "kafka"\nservers = "a:9092"\ntopic = "t"'
    text = JOB.replace('connector = "files"\npath = "data"', kafka).replace("[job]", '[job]\ntrigger = "real-time"')
    (config.root / "streamproof.toml").write_text(text + TABLE)
    config = load(config.root)

    with pytest.raises(ConfigurationError, match="looks rows up in the table prices"):
        require_possible(config, sp.Outputs(priced=ORDERS.lookup("prices", on="sku")))


def test_check_looks_whether_the_folder_is_there(configured):
    config = configured()
    with pytest.raises(ConfigurationError, match=r"line 13: \[table.prices\] path is .*prices, and there is no such folder"):
        looked(config, "prices")

    (config.root / "prices").mkdir()
    (config.root / "prices" / "a.parquet").write_bytes(b"")
    assert looked(config, "prices").says == "prices, 1 file, read at the start"


def test_check_says_the_newest_version_of_a_table_of_delta_lake(configured):
    config = configured('[table.prices]\nconnector = "delta"\npath = "prices"\nrefresh = "10 minutes"\n')
    log = config.root / "prices" / "_delta_log"
    log.parent.mkdir()
    with pytest.raises(ConfigurationError, match=r"line 13: \[table.prices\] path is .*prices, which is no table of Delta Lake"):
        looked(config, "prices")

    log.mkdir()
    for name in (f"{0:020}.json", f"{12:020}.json", f"{10:020}.checkpoint.parquet", "_last_checkpoint"):
        (log / name).write_text("{}")
    assert looked(config, "prices").says == "prices, version 12, read again after 10 minutes"


def test_what_lies_elsewhere_is_not_looked_at(configured):
    remote = configured('[table.prices]\nconnector = "files"\npath = "s3a://shop/prices"\n')

    assert not looked(remote, "prices").looked_at


class Files(dict):
    """What stands for storage: texts by path."""

    read = dict.get

    def replace_atomic(self, path, text):
        self[path] = text

    def create_atomic(self, path, text):
        return path not in self and not self.update({path: text})

    def names(self, folder):
        return [path.rpartition("/")[2] for path in self if path.startswith(f"{folder}/")]

    def delete(self, path):
        self.pop(path, None)


@pytest.fixture
def pins():
    """Of batch 1 there is a manifest too."""
    manifest = SimpleNamespace(fingerprint=SimpleNamespace(tables={"prices": "of-manifest"}))
    manifests = SimpleNamespace(checkpoint="/c", whole={1: manifest}.get)
    return Pins(Files(), manifests)


def test_r32_what_is_fixed_for_a_batch_is_found_again(pins):
    pins.fix(0, {"prices": "v1"})
    pins.fix(1, {"prices": "v2"})

    assert (pins.of(0), pins.of(1), pins.of(2)) == ({"prices": "v1"}, {"prices": "v2"}, {})
    assert pins.fix(0, {"prices": "v9"}) == pins.of(0) == {"prices": "v1"}, "what stands, stands"
    assert pins.fix(0, {"prices": "v9", "rates": "r1"}) == pins.of(0) == {"prices": "v1", "rates": "r1"}
    assert pins.batches() == [0, 1]


@pytest.mark.parametrize("text", [None, "", '{"format": 1, "tab'], ids=["gone", "emptied", "torn"])
def test_r32_where_the_file_is_gone_or_torn_the_manifest_says_it(pins, text):
    for batch in (0, 1):
        if text is not None:
            pins._storage[f"/c/_streamproof/tables/_pinned/{batch}"] = text

    assert (pins.of(0), pins.of(1)) == ({}, {"prices": "of-manifest"})
    assert pins.fix(0, {"prices": "v1"}) == pins.of(0) == {"prices": "v1"}


def test_r30_a_file_of_a_format_to_come_stops_the_start(pins):
    pins._storage["/c/_streamproof/tables/_pinned/1"] = '{"format": 2, "tables": {}}'

    with pytest.raises(UnknownFormat, match="a record of the tables of a batch of format 2"):
        pins.require_known()
