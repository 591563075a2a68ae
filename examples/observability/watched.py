"""`python examples/observability/watched.py`: the job as a service, watched by Prometheus; its database dies, an alert fires, nothing is lost.

Kafka and PostgreSQL are started for it, and Prometheus, which must be installed. It takes five minutes, two of which the alert waits.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import psycopg
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from rich.console import Console

from streamproof.lab import KafkaCluster, Postgres, Prometheus
from streamproof.lab.process import free_ports, until
from streamproof.observe.rules import alert_rules

EXAMPLE = Path(__file__).parent
QUIET_SECONDS = 30
A_SECOND = 20
"""So many requests come each second."""
ALERT = "StreamproofOutputWaits"
WAITS = "max(streamproof_waiting_batches)"
READ = "min(streamproof_input_records_total)"


@dataclass
class Requests:
    """Requests to three services, as they happen: some are late, some are wrong, some are sent twice."""

    servers: str
    sent: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def send(self) -> None:
        """Sends them until it is over."""
        producer, dice = Producer({"bootstrap.servers": self.servers}), Random(7)
        while not self.over.wait(1):
            for _ in range(A_SECOND):
                request = json.dumps(self._request(dice))
                for _ in range(2 if dice.random() < 0.05 else 1):
                    producer.produce("requests", request)
                    self.sent += 1
            producer.flush(60)

    def _request(self, dice: Random) -> dict[str, Any]:
        happened = time.time() - (300 if dice.random() < 0.01 else dice.random())
        return {
            "request_id": f"r-{self.sent}",
            "service": dice.choice(("checkout", "search", "login")),
            "path": f"/p{dice.randrange(30)}",
            "caller": f"u{dice.randrange(80)}",
            "latency_ms": -1.0 if dice.random() < 0.005 else round(dice.lognormvariate(4, 0.8), 1),
            "status": 500 if dice.random() < 0.02 else 200,
            "at": int(happened * 1000),
        }


@dataclass
class Story:
    """What happens, line by line, with the seconds since it began."""

    console: Console
    began: float = field(default_factory=time.monotonic)

    def tell(self, what: str, *more: str) -> None:
        self.console.print(
            f"[dim]{time.monotonic() - self.began:4.0f} s[/]  {what}", *(f"\n        {line}" for line in more), sep=""
        )


def watched(console: Console, place: Path, rules: str | None = None) -> bool:
    """Tells the story; whether it went as it should.

    Parameters
    ----------
    place
        A folder for the job, its log and the data of the services; what an earlier story left there goes.
    rules
        Other alert rules than those that `streamproof monitoring` writes.
    """
    place = place.absolute()
    shutil.rmtree(place, ignore_errors=True)
    job = place / "observability"
    shutil.copytree(EXAMPLE, job, ignore=shutil.ignore_patterns("checkpoints", "out", "data", "__pycache__"))
    metrics, live = free_ports(2)
    rules = rules or alert_rules()
    with (
        KafkaCluster(place / "kafka") as kafka,
        Postgres(place / "postgres") as postgres,
        Prometheus(place / "prometheus", scraped=f"127.0.0.1:{metrics}", rules=rules) as prometheus,
    ):
        make_topics(kafka.url)
        story, requests = Story(console), Requests(kafka.url)
        story.tell(f"Kafka, PostgreSQL and Prometheus run. {A_SECOND} requests come each second. The job is started.")
        with coming(requests) as sending, running(job, metrics, live, kafka.url, postgres.url, place / "run.log") as run:
            until(
                lambda: number(prometheus, "sum(streamproof_batches_total)") > 3,
                "four batches",
                180,
                gone=lambda: run.poll() is not None,
            )
            story.tell(
                "The job has done four batches.", f"live page: http://127.0.0.1:{live}/", f"Prometheus: {prometheus.url}/alerts"
            )
            noise = fired_within(prometheus, QUIET_SECONDS)
            story.tell(f"For {QUIET_SECONDS} seconds nothing happened, and {', '.join(noise) if noise else 'no alert fired'}.")

            postgres.kill()
            story.tell("PostgreSQL is killed. The job goes on: it stages the rows of `minutes`, and they wait.")
            until(lambda: ALERT in prometheus.firing(), f"the alert {ALERT}", 300, gone=lambda: run.poll() is not None)
            said = prometheus.firing()[ALERT]
            story.tell(
                f"[bold red]{ALERT}[/] fires: somebody is woken.",
                said["summary"],
                f"what to do: {said['description']}",
                said["runbook"],
            )

            postgres.restart()
            story.tell("PostgreSQL is started again.")
            until(lambda: not number(prometheus, WAITS) and ALERT not in prometheus.firing(), "the alert to end", 120)
            story.tell("Nothing waits any more, and the alert has ended. Nobody touched the job.")

            requests.over.set()
            sending.join(90)
            until(lambda: number(prometheus, READ) == requests.sent, "the job to read what was sent", 240)
            run.send_signal(signal.SIGTERM)
            output, _ = run.communicate(timeout=120)
            result = json.loads(output)
            rows, twice = rows_of(postgres.url)
            story.tell(f"No more requests come, and the job is ended. {requests.sent:,} were sent.", f"account: {shown(result)}")
            story.tell(f"{rows} rows are in the table, {twice or 'none'} of them twice.")
            return (
                not noise and not twice and rows > 0 and result["account_input"] == requests.sent == sum(result["account"].values())
            )


def make_topics(servers: str) -> None:
    """Makes the topics of the job, which `run` does not do."""
    names = ("requests", "late-requests", "rejected-requests")
    admin = AdminClient({"bootstrap.servers": servers})  # its answers come as long as it is there
    for each in admin.create_topics([NewTopic(name, num_partitions=2) for name in names]).values():
        each.result(60)


@contextmanager
def coming(requests: Requests) -> Iterator[threading.Thread]:
    """Requests come as long as the block lasts."""
    sending = threading.Thread(target=requests.send, daemon=True)
    sending.start()
    try:
        yield sending
    finally:
        requests.over.set()
        sending.join(90)


@contextmanager
def running(job: Path, metrics: int, live: int, kafka: str, postgres: str, log: Path) -> Iterator["subprocess.Popen[str]"]:
    """`streamproof run`, as a service manager would start it."""
    command = [sys.executable, "-m", "streamproof", "run", str(job), "--profile", "services", "--json"]
    with log.open("w") as errors:
        run = subprocess.Popen(
            [*command, "--metrics", str(metrics), "--live", str(live)],
            env={**os.environ, "KAFKA": kafka, "POSTGRES": postgres},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield run
        finally:
            run.kill()
            run.wait()


def number(prometheus: Prometheus, expression: str) -> float:
    """What an expression says now; 0 where there is no series yet."""
    found = prometheus.series(expression)
    return float(found[0]["value"][1]) if found else 0.0


def fired_within(prometheus: Prometheus, seconds: float) -> list[str]:
    """The alerts that fire within so many seconds."""
    end, seen = time.monotonic() + seconds, set[str]()
    while time.monotonic() < end:
        seen |= set(prometheus.firing())
        time.sleep(1)
    return sorted(seen)


def rows_of(url: str) -> tuple[int, int]:
    """The rows of `minutes`, and how many there are twice."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT count(*), count(*) - count(DISTINCT (service, window_start)) FROM minutes").fetchone()
    assert found is not None
    return found[0], found[1]


def shown(result: dict[str, Any]) -> str:
    """The account of a result of `run --json`, as `run` shows it."""
    places = " + ".join(f"{place} {count:,}" for place, count in result["account"].items())
    return f"{places} = {result['account_input']:,}"


if __name__ == "__main__":
    sys.exit(0 if watched(Console(highlight=False), Path("reports/watched")) else 1)
