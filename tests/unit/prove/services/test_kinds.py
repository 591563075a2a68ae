"""Each kind of service says of itself what a proof asks; a store that is no server needs none of what servers have."""

from pathlib import Path
from typing import get_args

import pytest

from streamproof.cli.lab import NAMES
from streamproof.config import ServiceSink
from streamproof.config.sinks import SINKS
from streamproof.core.phases import Side
from streamproof.prove.faults import network
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.services import Services, kinds
from streamproof.prove.services.kind import Kind, Reader
from streamproof.prove.services.kinds import KINDS


class InAFile(Kind):
    """A store that is a file."""

    name, called, server = "in-a-file", "a file", False


def test_every_sink_of_a_service_has_a_kind_that_binds_and_reads_it():
    made = {
        "postgres": {"url": "postgresql://h/d", "table": "t"},
        "kafka": {"servers": "h:1", "topic": "t"},
        "redis": {"url": "redis://h", "key": ["id"], "prefix": "kept:"},
        "http": {"url": "http://h", "key": ["id"]},
    }
    services = {name: model for name, model in SINKS.items() if issubclass(model, ServiceSink)}
    assert services.keys() == made.keys()
    for name, model in services.items():
        sink = model.model_validate({"connector": name, **made[name]})
        urls = dict.fromkeys(KINDS, "postgresql://there/d")
        assert kinds.kind_of(sink).bound(sink, "s00001", "out", urls) != sink
        assert isinstance(kinds.reader(sink), Reader)


def test_servers_are_those_of_the_lab_and_stores_those_of_a_scenario():
    assert {name for name, kind in KINDS.items() if kind.server} == {*NAMES} - {"s3", "toxiproxy", "spark"}
    named = get_args(get_args(Scenario.model_fields["environment"].annotation)[1])
    assert {name for name, kind in KINDS.items() if kind.store is not None} == set(named)


def test_what_is_no_server_is_not_started_has_no_line_and_lies_in_the_folder_of_the_proof(monkeypatch, tmp_path: Path):
    monkeypatch.setitem(KINDS, InAFile.name, InAFile())  # type: ignore[arg-type]
    outside = Services(tmp_path, (InAFile.name,))

    with_it = outside.start()

    assert (with_it.running, with_it.lines) == ({}, {})
    assert with_it.urls() == {"in-a-file": str(tmp_path / "in-a-file")}
    assert with_it.tries("s00001") == {}
    assert not [fault for fault in network.faults() if fault.service == InAFile.name]


def test_an_output_that_goes_nowhere_is_not_asked_about():
    with pytest.raises(NotImplementedError, match="no output goes to the registry"):
        _ = KINDS["registry"].reader


def test_where_calls_are_many_an_answer_can_be_lost_on_either_side():
    assert {name for name, kind in KINDS.items() if Side.AFTER in kind.lost_answers} == {"api"}
    assert {name for name, kind in KINDS.items() if kind.batches_wait} == {"postgres", "redis"}
