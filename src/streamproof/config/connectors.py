"""Which connectors a configuration can name, and what the tables of each take."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from streamproof.config.lookups import LOOKUPS, TableConfig
from streamproof.config.sinks import CUSTOM_SINK, SINKS, SinkConfig
from streamproof.config.sources import SOURCES, SourceConfig

CONNECTORS: Mapping[str, Mapping[str, type[BaseModel]]] = {"source": SOURCES, "sink": SINKS, "table": LOOKUPS}
COMMON = {
    "source": SourceConfig.model_fields.keys() | {"schema"},
    "sink": SinkConfig.model_fields.keys(),
    "table": TableConfig.model_fields.keys(),
}
"""What means the same for every connector."""


def model_of(kind: str, table: Any) -> type[BaseModel] | None:
    """The model of a [source.NAME], [sink.NAME] or [table.NAME], by its connector; None where that says nothing that is known."""
    connector = table.get("connector") if isinstance(table, dict) else None
    if kind == "sink" and isinstance(connector, str) and CUSTOM_SINK.fullmatch(connector):
        connector = "files"
    return CONNECTORS[kind].get(connector) if isinstance(connector, str) else None
