"""What Spark says of a column that is a text in the sample and something else in the job: the schema that the proof can be given."""

import re
import shlex
from collections.abc import Iterator, Sequence

from streamproof.config.columns import UnreadableSchema, typed_columns_of
from streamproof.prove.scenario.sample_types import quoted
from streamproof.prove.subjects.pyspark.told import ToldInput

_CONDITIONS = (
    "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE",
    "DATATYPE_MISMATCH",
    "CAST_INVALID_INPUT",
    "INVALID_EXTRACT_BASE_FIELD_TYPE",
    "UNEXPECTED_INPUT_TYPE",
)
_LEGACY = "Event time must be defined on"
_TYPE_OF_SPARK = {
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_NTZ": "timestamp_ntz",
    "DATE": "date",
    "BIGINT": "long",
    "INT": "int",
    "SMALLINT": "int",
    "TINYINT": "int",
    "NUMERIC": "double",
    "DOUBLE": "double",
    "FLOAT": "double",
    "BOOLEAN": "boolean",
    "BINARY": "binary",
}
_DECIMAL = re.compile(r'"(DECIMAL\(\d+,\s?\d+\))"')
_WORD = re.compile(r"[^\W\d]\w*")
_NAMED = re.compile(r"`([^`]+)`")
_QUOTED = re.compile(r'"([^"]*)"')
_MOST_NAMED = 5


def typed_by_schema(said: str, inputs: Sequence[ToldInput]) -> str:
    """The remedy for a complaint about a type, with the option and the column; empty where it is no such, or no text of a sample is meant.

    Parameters
    ----------
    said
        The whole text of the exception, and of what it comes from.
    inputs
        What the job reads; those with Kafka's columns have no texts.
    """
    if not any(f"[{condition}" in said for condition in _CONDITIONS) and _LEGACY not in said:
        return ""
    texts = {one.name: _texts(one) for one in inputs if not one.kafka}
    complaint = _complaint(said)
    found = list(_meant(complaint, texts))
    wanted = _wanted(complaint)
    if len(found) == 1:
        name, column = found[0]
        one = next(one for one in inputs if one.name == name)
        return (
            f"The sample gives {column} as a text. Say its type: --schema {shlex.quote(f'{name}={_retyped(one, column, wanted)}')}"
        )
    candidates = found or [(name, column) for name, columns in texts.items() for column in columns]
    if not candidates:
        return ""
    name = candidates[0][0]
    one = next(one for one in inputs if one.name == name)
    columns = [column for of, column in candidates if of == name]
    listed = ", ".join(columns[:_MOST_NAMED]) + (f" and {len(columns) - _MOST_NAMED} more" if len(columns) > _MOST_NAMED else "")
    example = _retyped(one, columns[0], wanted)
    return f"The sample gives {listed} as texts. Say the type of the one that the job means: --schema {shlex.quote(f'{name}={example}')}"


def _complaint(said: str) -> str:
    """The sentence that complains, without the plan below it and the values in it."""
    start = min(
        (place for condition in _CONDITIONS if (place := said.find(f"[{condition}")) >= 0), default=max(0, said.find(_LEGACY))
    )
    return said[start:].partition("\n")[0]


def _texts(one: ToldInput) -> list[str]:
    try:
        columns = typed_columns_of(one.schema)
    except UnreadableSchema:
        return []
    return [name for name, type_ in columns.items() if type_ == "string" and (not one.kept or name in one.kept)]


def _meant(complaint: str, texts: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """The columns that the complaint names: between backticks, else in quotes, else within an expression in quotes."""
    in_ticks = _NAMED.findall(complaint)
    quoted_texts = [text for text in _QUOTED.findall(complaint) if not text.isupper()]  # the others are types
    exact = {part for name in in_ticks for part in (name, *name.split("."))}
    words = {word for text in quoted_texts for word in _WORD.findall(text)}
    for among in (exact, set(quoted_texts), words):
        found = [(name, column) for name, columns in texts.items() for column in columns if column in among]
        if found:
            yield from found
            return


def _wanted(complaint: str) -> str:
    """The type that Spark asked for; a timestamp where it does not say."""
    behind = re.split(r"requires|expected|cast to|Need a", complaint, maxsplit=1)[-1]
    decimal = _DECIMAL.search(behind)
    if decimal:
        return decimal[1].lower().replace(" ", "")
    return next((ours for word in re.findall(r'"([A-Z_]+)', behind) if (ours := _TYPE_OF_SPARK.get(word))), "timestamp")


def _retyped(one: ToldInput, column: str, type_: str) -> str:
    columns = typed_columns_of(one.schema)
    return ", ".join(
        f"{quoted(name)} {type_ if name == column else kind}" for name, kind in columns.items() if not one.kept or name in one.kept
    )
