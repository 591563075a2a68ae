"""One run, looked at twice: a real Prometheus scrapes it, and a proof samples it. Both must say that the same alerts fire, and when."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from services.prometheus import scraping
from streamproof.lab.process import until
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.rehearsal.history import Scraped
from streamproof.observe.rehearsal.raised import looked_at
from streamproof.observe.rehearsal.samples import Sampling, lives_in
from streamproof.observe.rules import alert_rules
from streamproof.runtime.watching.events import (
    BatchCommitted,
    BatchPublished,
    PublicationWaiting,
    QueryStarted,
    RunEvent,
    WatermarkLeapt,
)
from unit.observe.test_metrics import AT

pytestmark = pytest.mark.service
MINUTE = timedelta(seconds=1)
APART_SECONDS = 3.0
"""Both look once a second, at other moments; Prometheus evaluates once a second besides."""
WAITS = PublicationWaiting("sums", "sums.postgres", 3, 1.0, "refused")
BACK = BatchPublished("sums", 4, "sums.postgres", 7, 0.1, waiting=0)
LEAPT = WatermarkLeapt("sums", 5, None, AT)


def committed(number: int) -> BatchCommitted:
    """A batch of a hundred records, a tenth of them rejected."""
    return BatchCommitted("sums", number, {"input": 100, "emitted": 90, "rejected": 10}, {}, None, {}, total_ms=200)


def test_a_proof_and_prometheus_see_the_same_alerts_at_the_same_time(tmp_path: Path) -> None:
    with (
        Sampling(tmp_path / "metrics", "clicks", 0.25) as values,
        Endpoint("clicks", "0", values) as endpoint,
        scraping(tmp_path / "prometheus", urlsplit(endpoint.url).netloc, alert_rules(MINUTE)) as prometheus,
    ):
        heard = [0]

        def hear(*events: RunEvent) -> None:
            for event in events:
                values(event)

        def meanwhile(condition: Callable[[], bool]) -> Callable[[], bool]:
            """A batch is committed each time that the condition is looked at."""

            def look() -> bool:
                heard[0] += 1
                hear(committed(heard[0]))
                return condition()

            return look

        hear(QueryStarted("sums", "run-1", "checkpoint", {}, 0))
        until(lambda: bool(prometheus.series("streamproof_query_up")), "the first scrape", 30)
        hear(WAITS)
        until(meanwhile(lambda: "StreamproofOutputWaits" in prometheus.firing()), "the alert on a store", 30)
        hear(BACK)
        until(meanwhile(lambda: "StreamproofOutputWaits" not in prometheus.firing()), "its end", 30)
        hear(LEAPT)
        until(meanwhile(lambda: "StreamproofWatermarkLeapt" in prometheus.firing()), "the alert on the watermark", 30)
        until(meanwhile(lambda: "StreamproofManyRejected" in prometheus.firing()), "the alert on rejected records", 60)
        firing = prometheus.series('ALERTS{alertstate="firing"}[5m]')
        since = {one["metric"]["alertname"]: float(one["values"][0][0]) for one in firing}

    raised = looked_at(Scraped(lives_in(tmp_path / "metrics")), minute=MINUTE).raised
    assert [one.alert.name for one in raised] == sorted(since, key=lambda name: since[name])
    for one in raised:
        assert abs(one.at - since[one.alert.name]) < APART_SECONDS, (one.alert.name, one.at, since[one.alert.name])
