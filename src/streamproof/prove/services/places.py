"""Where a scenario lies in the services: tables and topics of its own; and what is found there as files."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from streamproof.config import ServiceSink, SinkConfig, output_of
from streamproof.prove.artifacts.reading import LEDGER
from streamproof.prove.services.kind import Published
from streamproof.prove.services.kinds import kind_of, reader
from streamproof.prove.services.names import own_name


def sink_at(name: str, sink: SinkConfig, scenario: str, urls: Mapping[str, str]) -> SinkConfig:
    """A sink of a service, writing to the scenario's own table or topic; others as they are."""
    if sink.service is None:
        return sink
    output = name.replace(".", "__")  # a dot would separate a schema from its table
    return kind_of(sink.service).bound(sink.service, own_name(scenario), output, urls)


def opened(sinks: Mapping[str, ServiceSink]) -> None:
    """Makes the places of a scenario."""
    for sink in sinks.values():
        reader(sink).open(sink)


def closed(sinks: Mapping[str, ServiceSink]) -> None:
    """Removes them."""
    for sink in sinks.values():
        reader(sink).close(sink)


def harvested(sinks: Mapping[str, ServiceSink], out: Path, types: Mapping[str, Mapping[str, str]]) -> None:
    """Writes what the services hold to `out/OUTPUT/batch=N/`, with the ledger, as a sink of files would have: checkers read that.

    Parameters
    ----------
    types
        By output the types of its columns: several sinks have them in common.
    """
    for output, sink in sinks.items():
        found = reader(sink)
        written(out / output, found.rows(sink, types.get(output_of(output), {})))
        for entry in found.ledger(sink, out / output):
            (_folder(out / output, entry.batch) / LEDGER).write_text(entry.to_json())


def written(output: Path, rows: Iterable[Published]) -> None:
    """Writes the rows of an output in the place of what was written before, a folder for each batch."""
    for left in output.glob("batch=*"):
        shutil.rmtree(left)
    lines: dict[int | None, list[str]] = {}
    for row in rows:
        lines.setdefault(row.batch, []).append(json.dumps(row.values))
    for batch, of_batch in lines.items():
        folder = _folder(output, batch)
        (folder / "rows.jsonl").write_text("".join(f"{row}\n" for row in of_batch))


def _folder(output: Path, batch: int | None) -> Path:
    folder = output / ("batch=unknown" if batch is None else f"batch={batch:06d}")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
