"""The mistake: a call that fails is made again at once, until it succeeds."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from pyspark.sql import functions as F

from streamproof.connectors import Sink
from streamproof.core.manifest import LedgerEntry, Manifest, Section

STORE = os.environ.get("TAKINGS_API", "https://payments.example.com")


class AtOnce(Sink):
    """Never gives up, and never waits: a thousand drivers like this keep down what has just stumbled."""

    guarantee = "exactly once, as far as the API honours Idempotency-Key"

    def published(self, batch: int) -> LedgerEntry | None:
        """Not known: a call that is made again does nothing."""
        return None

    def publish(self, manifest: Manifest, section: Section) -> None:
        for row in self.place.staged_rows(section).select("shop", "window_start", F.to_json(F.struct("*"))).collect():
            self._call(f"{row[0]} {row[1]:%H:%M}", json.dumps({"batch": manifest.batch, "takings": json.loads(row[2])}))
            self.place.steps.after("takings.call", manifest.batch)

    def _call(self, key: str, body: str) -> None:
        while True:
            try:
                urlopen(Request(STORE, body.encode(), {"Idempotency-Key": key}, method="POST")).close()
                return
            except (HTTPError, URLError):
                continue  # at once, for as long as it takes

    def contents(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        with urlopen(f"{STORE}/_effects") as answer:
            yield from ((effect["body"]["batch"], effect["body"]["takings"]) for effect in json.load(answer))
