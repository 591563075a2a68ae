"""Headers of Kafka's records: from the column `headers` of a sample, in the ways in which dumps of topics have them."""

from collections.abc import Mapping, Sequence
from typing import Any

from streamproof.errors import ScenarioError
from streamproof.prove.scenario.sample_as_json import json_text

COLUMN = "headers"


def headers_of(values: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The headers of a record; None where it has none.

    The column holds an object, {"trace": "a"}; a list of objects with key and value; or texts, a key and its value in turn.
    """
    found = values.get(COLUMN)
    match found:
        case Mapping():
            return [{"key": str(key), "value": _bytes(value)} for key, value in found.items() if value is not None]
        case list() | tuple() if found and all(isinstance(one, Mapping) and "key" in one for one in found):
            return [{"key": str(one["key"]), "value": _bytes(one.get("value"))} for one in found]
        case list() | tuple() if found and all(isinstance(one, str) for one in found) and len(found) % 2 == 0:
            return [{"key": key, "value": _bytes(value)} for key, value in _in_pairs(found)]
        case _:
            return None


def require_headers(name: str, columns: Sequence[str]) -> None:
    """ScenarioError if the sample has no headers, and the job asks for them: each would be null."""
    if COLUMN not in columns:
        raise ScenarioError(
            f"The job reads the headers of Kafka's records (includeHeaders), and the sample of {name} has none.",
            required='Headers come from a column "headers" of the sample: an object such as {"trace": "a1"}, or a list of objects with key and value.',
            remedy="Add the column to the records of the sample.",
        )


def _in_pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(texts[::2], texts[1::2], strict=True))


def _bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json_text(value)).encode()
