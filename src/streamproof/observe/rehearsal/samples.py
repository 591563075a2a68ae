"""Samples of a run's metrics, taken as often as a Prometheus would scrape them, and kept in a file: one line of JSON for each scrape."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from streamproof.core.clock import now_utc
from streamproof.core.ids import new_id
from streamproof.observe.values import Durations, Values

JOB = "job_name"
FOLDER = "metrics"
"""In the folder of a scenario: a file of samples for each time that a query has run there."""
Labels = tuple[tuple[str, str], ...]
"""Names and values of labels, in the order of their names."""
Series = tuple[str, Labels]
"""What tells a series from others: the name of its metric, and its labels."""


def labelled(**labels: str) -> Labels:
    """Labels in the order of their names."""
    return tuple(sorted(labels.items()))


@dataclass(frozen=True)
class Scrape:
    """What the metrics of a process were at a moment, in seconds since 1970."""

    at: float
    values: Mapping[Series, float]


Life = Sequence[Scrape]
"""The scrapes of one process, from its first to its last."""


def scraped(job: str, values: Values) -> dict[Series, float]:
    """The series that a run has now. Of durations only their sum and their count: no alert asks for buckets."""
    found: dict[Series, float] = {}
    for metric in values.metrics:
        for given, value in values.now(metric).items():
            labels = labelled(**{JOB: job, **dict(zip(metric.labels, given, strict=True))})
            if isinstance(value, Durations):
                found[f"{metric.full_name}_sum", labels] = value.total
                found[f"{metric.full_name}_count", labels] = float(sum(value.counts))
            else:
                found[metric.full_name, labels] = float(value)
    return found


class Sampling:
    """Writes the samples of a run while it lasts. It is a listener of that run, too.

    Parameters
    ----------
    folder
        Where the file goes, with a name of its own.
    job
        The name of the job.
    seconds
        From one scrape to the next.
    """

    def __init__(self, folder: Path, job: str, seconds: float) -> None:
        self.values, self._job, self._seconds = Values(), job, seconds
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / f"{new_id()}.jsonl").open("w", buffering=1, encoding="utf-8")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._scrape_until_over, name="streamproof-samples", daemon=True)

    def __enter__(self) -> Values:
        """The listener that has to hear the events of the run."""
        self._thread.start()
        return self.values

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self._file.close()

    def _scrape_until_over(self) -> None:
        over = False
        while not over:
            over = self._over.wait(self._seconds)  # the last scrape sees what came since the one before it
            line = {
                "at": now_utc().timestamp(),
                "samples": [[name, dict(labels), value] for (name, labels), value in scraped(self._job, self.values).items()],
            }
            self._file.write(f"{json.dumps(line)}\n")


def lives_in(folder: Path) -> list[Life]:
    """What the processes of a scenario have left, in the order in which they began; a line that a death has cut short is left out."""
    lives = [life for file in folder.glob("*.jsonl") if (life := list(_scrapes(file)))]
    return sorted(lives, key=lambda life: life[0].at)


def _scrapes(file: Path) -> Iterator[Scrape]:
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            continue
        yield Scrape(found["at"], {(name, labelled(**labels)): value for name, labels, value in found["samples"]})
