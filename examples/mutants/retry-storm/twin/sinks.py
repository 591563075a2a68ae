"""The mend: a pause before each further try, twice as long each time and never the same, and an end to it."""

import json
import os
import random
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from pyspark.sql import functions as F

from streamproof.connectors import Sink
from streamproof.core.manifest import LedgerEntry, Manifest, Section
from streamproof.errors import SinkUnavailable

STORE = os.environ.get("TAKINGS_API", "https://payments.example.com")


class WithPauses(Sink):
    """Waits longer after each try; what still fails stops the job, which is started again."""

    guarantee = "exactly once, as far as the API honours Idempotency-Key"

    def published(self, batch: int) -> LedgerEntry | None:
        """Not known: a call that is made again does nothing."""
        return None

    def publish(self, manifest: Manifest, section: Section) -> None:
        for row in self.place.staged_rows(section).select("shop", "window_start", F.to_json(F.struct("*"))).collect():
            self._call(f"{row[0]} {row[1]:%H:%M}", json.dumps({"batch": manifest.batch, "takings": json.loads(row[2])}))
            self.place.steps.after("takings.call", manifest.batch)

    def _call(self, key: str, body: str) -> None:
        for attempt in range(10):
            try:
                urlopen(Request(STORE, body.encode(), {"Idempotency-Key": key}, method="POST")).close()
                return
            except (HTTPError, URLError):
                time.sleep(min(0.2 * 2**attempt, 30) * random.uniform(0.5, 1.5))
        raise SinkUnavailable(f"{STORE} does not take {key}.")

    def contents(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        with urlopen(f"{STORE}/_effects") as answer:
            yield from ((effect["body"]["batch"], effect["body"]["takings"]) for effect in json.load(answer))
