"""An API in a proof: each scenario has a path on the lab's stand-in, which counts the calls' effects."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from streamproof.config import HttpSink, ServiceSink
from streamproof.connectors.http.calls import FOLDER
from streamproof.core.manifest import LedgerEntry
from streamproof.lab.api import effects_at
from streamproof.prove.services.kind import Published, Reader

_HEADER = "Streamproof"
_NUMBERS = ("_records", "_trace_hash")


class Effects(Reader):
    """Reads what a scenario has made the API do: a row for each effect."""

    def open(self, sink: ServiceSink) -> None:
        """Nothing has to be made."""

    def rows(self, sink: ServiceSink, types: Mapping[str, str]) -> Iterator[Published]:
        assert isinstance(sink, HttpSink), "the reader of effects is asked about calls"
        for effect in effects_at(sink.url):
            headers = {name.removeprefix(_HEADER).replace("-", "_"): value for name, value in effect["headers"].items()}
            batch = headers.pop("_batch", None)
            hidden = {name: int(value) if name in _NUMBERS else value for name, value in headers.items()}
            yield Published(None if batch is None else int(batch), {**effect["body"], **hidden})

    def ledger(self, sink: ServiceSink, home: Path) -> Sequence[LedgerEntry]:
        return [LedgerEntry.from_json(path.read_text()) for path in sorted(home.glob(f"{FOLDER}/batch=*/_ledger.json"))]

    def close(self, sink: ServiceSink) -> None:
        """It goes with the proof."""
