"""Where a scenario's outputs lie in services: apart from those of all others, and there until they are read."""

from datetime import timedelta

import pytest

from streamproof.config import HttpSink, KafkaSink, PostgresSink, RedisSink
from streamproof.prove.services.places import sink_at


@pytest.mark.parametrize(("ttl", "lives"), [(None, None), (1, timedelta(days=1)), (7 * 86_400, timedelta(days=7))])
def test_keys_of_redis_have_a_prefix_of_the_scenario_and_live_until_they_are_read(ttl, lives):
    sink = RedisSink(connector="redis", url="redis://localhost", key=("shop",), prefix="takings:", ttl=ttl and f"{ttl} seconds")

    bound = [sink_at("takings", sink, scenario, {"redis": "redis://127.0.0.1:1/0"}) for scenario in ("s00001", "s00002")]

    assert [each.prefix for each in bound] == ["s00001:takings:", "s00002:takings:"]
    assert {each.ttl for each in bound} == {lives}
    assert {each.url for each in bound} == {"redis://127.0.0.1:1/0"}


def test_k7_several_sinks_of_an_output_have_each_a_place_of_their_own():
    urls = {"postgres": "postgresql://h/db", "kafka": "h:1", "redis": "redis://h", "api": "http://h"}
    sinks = {
        "kept.table": PostgresSink(connector="postgres", url="postgresql://x/y", table="kept"),
        "kept.topic": KafkaSink(connector="kafka", servers="x:1", topic="kept"),
        "kept.keys": RedisSink(connector="redis", url="redis://x", key=("id",), prefix="kept:"),
        "kept.calls": HttpSink(connector="http", url="http://x", key=("id",), idempotent=True),
    }

    bound = {name: sink_at(name, sink, "s00001", urls) for name, sink in sinks.items()}

    assert bound["kept.table"].table == "s00001.kept__table", "no dot but the one behind the schema"
    assert bound["kept.topic"].topic == "s00001-kept__topic"
    assert bound["kept.keys"].prefix == "s00001:kept__keys:"
    assert bound["kept.calls"].url == "http://h/s00001/kept__calls"
