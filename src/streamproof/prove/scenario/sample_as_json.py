"""A sample in another format as lines of JSON, for what reads JSON only: the values stay, and so do the types of the columns."""

import json
import math
import re
from base64 import b64encode
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from streamproof.core.paths import display
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.sample import Sample
from streamproof.prove.scenario.sample_records import Record

_OTHER_KEYS = re.compile(r"map<(?!string\b)")


def as_json(sample: Sample) -> Sample:
    """The same records as JSON, as Spark reads it with the sample's schema; binary values in base64.

    Raises
    ------
    ScenarioError
        If a column is a map whose keys are no texts: JSON has no such thing.
    """
    for name, type_ in sample.columns.items():
        if _OTHER_KEYS.search(type_):
            raise ScenarioError(
                f'{display(sample.path)} has the column "{name}" of type {type_}, which JSON cannot hold.',
                required="The keys of a map are texts in JSON.",
                remedy="Leave the column out, or write its keys as texts.",
            )
    types = {field.name: field.type for field in sample.written.layout} if isinstance(sample.written.layout, pa.Schema) else {}
    records = []
    for record in sample.records:
        values = {name: _with_maps(value, types[name]) if name in types else value for name, value in record.values.items()}
        records.append(Record(json_text(values).encode(), record.values))
    return replace(sample, format="json", records=records, written=replace(sample.written, header=None, layout=None))


def json_text(value: Any) -> str:
    """The value as it stands in a line of JSON, exactly; times in ISO 8601."""
    match value:
        case dict():
            return (
                "{"
                + ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {json_text(inner)}" for name, inner in value.items())
                + "}"
            )
        case list() | tuple():
            return f"[{', '.join(map(json_text, value))}]"
        case Decimal():
            return format(value, "f")
        case float() if not math.isfinite(value):
            return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'  # without quotes it is no JSON
        case datetime():
            return f'"{value.isoformat().replace("+00:00", "Z")}"'
        case date():
            return f'"{value.isoformat()}"'
        case bytes():
            return f'"{b64encode(value).decode()}"'
        case _:
            return json.dumps(value, ensure_ascii=False)


def _with_maps(value: Any, type_: pa.DataType) -> Any:
    """The value with its maps as dicts: Arrow gives them as lists of pairs."""
    if value is None:
        return None
    match type_:
        case pa.MapType():
            return {key: _with_maps(item, type_.item_type) for key, item in value}
        case pa.ListType():
            return [_with_maps(each, type_.value_type) for each in value]
        case pa.StructType():
            return {field.name: _with_maps(value[field.name], field.type) for field in type_}
        case _:
            return value
