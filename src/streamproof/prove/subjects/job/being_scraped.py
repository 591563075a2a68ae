"""A run of a proof is scraped, where its scenario asks for alerts: what its metrics are goes to a file as often as Prometheus would ask."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamproof.observe.rehearsal.samples import FOLDER, Sampling
from streamproof.prove.process.task import ChildTask
from streamproof.runtime.watching.events import Emitter

SCRAPED = "scraped_each"
"""In what a child is told: the seconds from one scrape to the next; not there where nothing is scraped."""


@contextmanager
def scraping(task: ChildTask, job: str) -> Iterator[Emitter]:
    """The emitter for the events of a query, as long as it runs."""
    seconds = task.subject.get(SCRAPED)
    if seconds is None:
        yield Emitter()
        return
    with Sampling(task.folder / FOLDER, job, seconds) as values:
        yield Emitter(values)
