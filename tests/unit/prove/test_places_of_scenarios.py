"""Where a scenario's outputs lie in services: apart from those of all others, and there until they are read."""

from datetime import timedelta

import pytest

from streamproof.config import RedisSink
from streamproof.prove.outside.places import sink_at


@pytest.mark.parametrize(("ttl", "lives"), [(None, None), (1, timedelta(days=1)), (7 * 86_400, timedelta(days=7))])
def test_keys_of_redis_have_a_prefix_of_the_scenario_and_live_until_they_are_read(ttl, lives):
    sink = RedisSink(connector="redis", url="redis://localhost", key=("shop",), prefix="takings:", ttl=ttl and f"{ttl} seconds")

    bound = [sink_at("takings", sink, scenario, {"redis": "redis://127.0.0.1:1/0"}) for scenario in ("s00001", "s00002")]

    assert [each.prefix for each in bound] == ["s00001:takings:", "s00002:takings:"]
    assert {each.ttl for each in bound} == {lives}
    assert {each.url for each in bound} == {"redis://127.0.0.1:1/0"}
