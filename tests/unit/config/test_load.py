import pickle
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from streamproof.config import load
from streamproof.errors import ConfigurationError


def test_a_whole_file_is_typed(loaded):
    config = loaded()

    assert (config.name, config.entry, config.checkpoint) == ("risk_exposure", "job.py:risk_exposure", "checkpoints/risk_exposure")
    assert config.trigger.interval == timedelta(seconds=10)
    assert config.source["trades"].event_time.lag == timedelta(seconds=10)
    assert config.source["trades"].event_time.max_future == timedelta(minutes=5)
    assert config.source["trades"].event_time.zone == "UTC"
    assert config.sink["exposure"].format == "parquet"
    assert config.spark == {"spark.sql.shuffle.partitions": "2"}
    assert config.entry_file == config.root / "job.py"


def test_what_is_left_out_has_its_default(loaded):
    config = loaded(('checkpoint = "checkpoints/risk_exposure"\n', ""), ('trigger = "10 seconds"\n', ""))

    assert config.checkpoint == "checkpoints/risk_exposure"
    assert str(config.trigger) == "available-now"


def test_events_of_the_far_future_are_rejected_unless_somebody_wants_them(loaded):
    declared = ', max_future = "5 minutes"'

    assert loaded((declared, "")).source["trades"].event_time.max_future == timedelta(days=1)
    assert loaded((declared, ', max_future = "none"')).source["trades"].event_time.max_future is None


def test_paths_are_relative_to_the_file_and_uris_are_left_alone(loaded, folder):
    config = loaded()

    assert config.resolve("out/x") == str(folder / "out" / "x")
    assert config.resolve("/abs") == "/abs"
    assert config.resolve("s3a://bucket/out") == "s3a://bucket/out"
    assert config.resolve("file:/tmp/x") == "file:/tmp/x"


@pytest.mark.parametrize(
    "target", ["my_job", "my_job/streamproof.toml", "my_job/job.py", "my_job/job.py:risk_exposure", Path("my_job")]
)
def test_every_form_of_a_target_finds_the_job(folder, target):
    assert load(target).entry == "job.py:risk_exposure"


def test_a_python_file_with_a_function_overrides_the_entry(folder):
    (folder / "job.py").write_text(
        (folder / "job.py").read_text() + "\n@sp.job\ndef other(trades): return sp.Outputs(exposure=trades)\n"
    )

    assert load("my_job/job.py:other").name == "other"
    assert load("my_job/job.py").name == "risk_exposure", "the file names it"


def test_a_python_file_with_several_jobs_needs_a_name(folder):
    (folder / "both.py").write_text("import streamproof as sp\n@sp.job\ndef a(trades): ...\n@sp.job\ndef b(trades): ...\n")

    with pytest.raises(ConfigurationError, match=r"both\.py has the jobs a, b\."):
        load("my_job/both.py")


def test_a_profile_overrides_single_keys(loaded):
    config = loaded(profile="local")

    assert config.source["trades"].path == "elsewhere"
    assert config.source["trades"].format == "json"
    assert loaded().source["trades"].path == "data/trades"


def test_an_unknown_profile_names_the_nearest(loaded):
    with pytest.raises(ConfigurationError) as raised:
        loaded(profile="locl")

    assert str(raised.value) == 'my_job/streamproof.toml has no profile "locl". Did you mean "local"?\nIt has "local".'


def test_a_key_of_a_profile_is_found_where_the_profile_writes_it(loaded):
    with pytest.raises(ConfigurationError) as raised:
        loaded(('path = "elsewhere"', 'pth = "elsewhere"'), profile="local")

    assert raised.value.message == (
        'my_job/streamproof.toml line 17: [profile.local.source.trades] has no key "pth". Did you mean "path"?'
    )


def test_an_unused_profile_is_not_looked_at(loaded):
    assert loaded(('path = "elsewhere"', 'path = "${env:STREAMPROOF_TEST_UNSET}"')).source["trades"].path == "data/trades"


def test_the_models_are_frozen_and_can_be_copied_and_pickled(loaded):
    config = loaded()

    with pytest.raises(ValidationError):
        config.name = "other"
    moved = config.model_copy(update={"checkpoint": "elsewhere"})
    assert (moved.checkpoint, moved.where("source", "trades")) == ("elsewhere", "my_job/streamproof.toml line 5")
    assert pickle.loads(pickle.dumps(config)) == config


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere", "There is no folder or file nowhere."),
        ("nowhere.py", "There is no file nowhere.py."),
        ("empty", "The folder empty has no streamproof.toml."),
        ("empty.txt", "empty.txt is neither a folder, nor a .toml file, nor a .py file."),
        ("alone.py", "There is no streamproof.toml beside alone.py."),
    ],
)
def test_a_target_that_is_not_there(folder, target, message):
    Path("empty").mkdir()
    Path("empty.txt").touch()
    Path("alone.py").touch()

    with pytest.raises(ConfigurationError) as raised:
        load(target)

    assert raised.value.message == message
    assert raised.value.remedy


def test_a_profile_that_binds_to_another_connector_leaves_the_formers_keys_behind(loaded):
    services = """
[profile.services.source.trades]
connector = "kafka"
servers = "localhost:9092"
topic = ["trades", "more-trades"]

[profile.services.sink.exposure]
connector = "postgres"
url = "postgresql://localhost/db"
table = "exposure"
"""
    config = loaded(("[spark]", f"{services}\n[spark]"), profile="services")

    trades, exposure = config.source["trades"], config.sink["exposure"]
    assert (trades.topic, trades.format, trades.event_time.column) == (("trades", "more-trades"), "json", "ts")
    assert (exposure.table, exposure.mode, exposure.backlog) == ("exposure", "insert", 100)
    assert loaded().source["trades"].path


SINK = 'connector = "files"\npath = "out/exposure"'
TABLE = 'connector = "postgres"\nurl = "postgresql://localhost/db"\ntable = "exposure"'
FOLDER = 'connector = "files"\npath = "out/folder"\nformat = "json"'


def several(begins=""):
    return f"[{begins}sink.exposure.table]\n{TABLE}\n[{begins}sink.exposure.folder]\n{FOLDER}\n"


def test_k7_an_output_may_have_several_sinks(loaded):
    config = loaded((f"[sink.exposure]\n{SINK}\n", several()))

    assert list(config.sink) == ["exposure.table", "exposure.folder"]
    assert config.sinks_of("exposure") == ("exposure.table", "exposure.folder")
    assert (config.sink["exposure.table"].table, config.sink["exposure.folder"].format) == ("exposure", "json")


def test_k7_a_profile_binds_to_several_sinks_instead_of_one(loaded):
    config = loaded(("[spark]", f"{several('profile.services.')}[spark]"), profile="services")

    assert {name: sink.connector for name, sink in config.sink.items()} == {
        "exposure.table": "postgres",
        "exposure.folder": "files",
    }
    assert config.sink["exposure.folder"].path == "out/folder"


def test_k7_a_profile_binds_to_one_sink_instead_of_several(loaded):
    one = '[profile.laptop.sink.exposure]\nconnector = "files"\npath = "out/laptop"\n'
    config = loaded((f"[sink.exposure]\n{SINK}\n", several()), ("[spark]", f"{one}[spark]"), profile="laptop")

    assert {name: sink.path for name, sink in config.sink.items()} == {"exposure": "out/laptop"}


def test_k7_a_profile_changes_single_keys_of_one_of_several_sinks(loaded):
    one = '[profile.laptop.sink.exposure.folder]\npath = "out/laptop"\n'
    config = loaded((f"[sink.exposure]\n{SINK}\n", several()), ("[spark]", f"{one}[spark]"), profile="laptop")

    assert list(config.sink) == ["exposure.table", "exposure.folder"]
    assert (config.sink["exposure.folder"].path, config.sink["exposure.folder"].format) == ("out/laptop", "json")


def test_k7_a_profile_binds_one_of_several_sinks_to_another_connector(loaded):
    one = '[profile.services.sink.exposure.folder]\nconnector = "kafka"\nservers = "localhost:9092"\ntopic = "exposure"\n'
    more = '[profile.services.sink.exposure.more]\nconnector = "files"\npath = "out/more"\n'
    config = loaded((f"[sink.exposure]\n{SINK}\n", several()), ("[spark]", f"{one}{more}[spark]"), profile="services")

    assert {name: sink.connector for name, sink in config.sink.items()} == {
        "exposure.table": "postgres",
        "exposure.folder": "kafka",
        "exposure.more": "files",
    }


@pytest.mark.parametrize("servers", ["localhost", "http://x:9092", "a:9092;b:9092", "a:9092,", "SASL_SSL://a:9092"])
def test_servers_of_kafka_are_hosts_with_ports(loaded, servers):
    source = 'connector = "kafka"\nservers = "{}"\ntopic = "t"'
    for good in ("localhost:9092", "10.0.0.1:9092, broker-2.example:9092", "[::1]:9092"):
        assert loaded(('connector = "files"\npath = "data/trades"', source.format(good))).source["trades"].servers == good
    with pytest.raises(ConfigurationError) as raised:
        loaded(('connector = "files"\npath = "data/trades"', source.format(servers)))

    assert f'servers is "{servers}"' in raised.value.message
    assert '"host:9092"' in (raised.value.required or "")


def test_settings_of_a_client_may_be_written_with_dots(loaded):
    source = 'connector = "kafka"\nservers = "s:1"\ntopic = "t"\noptions = { security.protocol = "SSL", "ssl.key.password" = "x", retries = 3 }'
    config = loaded(('connector = "files"\npath = "data/trades"', source))

    assert config.source["trades"].options == {"security.protocol": "SSL", "ssl.key.password": "x", "retries": "3"}


@pytest.mark.parametrize("option", ["isolation.level", "failOnDataLoss", "FAILONDATALOSS"])
def test_r27_options_do_not_take_away_what_the_guarantees_stand_on(loaded, option):
    source = f'connector = "kafka"\nservers = "s:1"\ntopic = "t"\noptions = {{ "{option}" = "read_uncommitted" }}'

    with pytest.raises(ConfigurationError) as raised:
        loaded(('connector = "files"\npath = "data/trades"', source))

    assert f'options has "{option}"' in raised.value.message
    assert raised.value.required


def test_how_long_a_batch_should_take_is_of_the_trigger(loaded):
    config = loaded(('trigger = "10 seconds"', 'trigger = "10 seconds"\nbatch_time = "30 seconds"'))

    assert config.trigger.batch_time == timedelta(seconds=30)
    assert loaded().trigger.batch_time is None


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ('batch_time = "0 seconds"', "batch_time is of no length"),
        ('batch_time = "soon"', 'batch_time is "soon", which is not a duration'),
        (
            'trigger = "real-time"\nbatch_time = "30 seconds"',
            "batch_time is there, and the trigger is real-time",
        ),
    ],
)
def test_a_batch_time_that_cannot_be_is_refused(loaded, new, said):
    with pytest.raises(ConfigurationError) as refused:
        loaded(('trigger = "10 seconds"', new))

    assert said in str(refused.value)


def test_a_batch_time_is_refused_where_no_source_can_be_limited(loaded):
    of_files = """connector = "files"
path = "data/trades"
format = "json"
schema = "trade_id string, client string, notional decimal(10,2), ts long"
event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds", max_future = "5 minutes" }
"""

    with pytest.raises(ConfigurationError, match="no source of the job can give a batch less"):
        loaded(
            ('trigger = "10 seconds"', 'batch_time = "30 seconds"'),
            (of_files, 'connector = "rate"\nrows_per_second = 5\n'),
            ('[profile.local.source.trades]\npath = "elsewhere"\n', ""),
        )
