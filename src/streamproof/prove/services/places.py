"""Where a scenario lies in the services: its sources' topics, and tables and topics of its own; and what is found there as files."""

import json
import shutil
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path

from streamproof.config import (
    HttpSink,
    KafkaSink,
    PostgresSink,
    RedisSink,
    RegistryConfig,
    ServiceSink,
    SinkConfig,
    output_of,
)
from streamproof.prove.artifacts.reading import LEDGER
from streamproof.prove.services.reader import Published
from streamproof.prove.services.services import own_name, reader

_A_DAY = timedelta(days=1)


def sink_at(name: str, sink: SinkConfig, scenario: str, urls: Mapping[str, str]) -> SinkConfig:
    """A sink of a service, writing to the scenario's own table or topic; others as they are."""
    own, output = own_name(scenario), name.replace(".", "__")  # a dot would separate a schema from its table
    if isinstance(sink, PostgresSink):
        return sink.model_copy(update={"url": urls["postgres"], "table": f"{own}.{output}", "create": True})
    if isinstance(sink, KafkaSink):
        of_its_own = {"topic": f"{own}-{output}", "subject": None, "registers": True, "registry": _registry(sink, urls)}
        return sink.model_copy(update={"servers": urls["kafka"], "options": {}, **of_its_own})
    if isinstance(sink, RedisSink):
        lives = max(sink.ttl, _A_DAY) if sink.ttl else None  # keys that expire before they are looked at would pass for lost
        return sink.model_copy(update={"url": urls["redis"], "prefix": f"{own}:{output}:", "ttl": lives})
    if isinstance(sink, HttpSink):
        url = f"{urls['api']}{'' if sink.idempotent else '/careless'}/{own}/{output}"
        return sink.model_copy(
            update={"url": url, "lookup": f"{url}/{{key}}" if sink.lookup else None, "headers": {}, "ledger": None}
        )
    return sink


def _registry(bound: KafkaSink, urls: Mapping[str, str]) -> RegistryConfig | None:
    """The proof's registry, for what is bound to one."""
    return None if bound.registry is None else RegistryConfig(url=urls["registry"])


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
