"""JSON Schema: records held against the writer's, and a schema made of columns."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any
from urllib.parse import urljoin

import jsonschema
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    MapType,
    StructType,
)
from referencing import Registry as Referred
from referencing import Resource
from referencing.jsonschema import DRAFT7

from streamproof.connectors.registry.client import RegisteredSchema
from streamproof.connectors.registry.wire import Broken, Undecodable

_DIGITS = 1_000
"""Enough to divide the greatest number of a double by the smallest step."""


@dataclass(frozen=True)
class JsonReader:
    """Reads a record of JSON as JSON: `validates` holds it against its schema."""

    type = "JSON"
    validates: bool

    def opened(self, schema: RegisteredSchema, referred: Mapping[str, RegisteredSchema]) -> "JsonCheck":
        """What the records of a schema are read by; Broken where it is no schema."""
        if not self.validates:
            return JsonCheck(None)
        try:
            plain = json.loads(schema.text)
            kind = validator_for(plain, default=jsonschema.Draft7Validator)
            kind.check_schema(plain)
            whole = kind.TYPE_CHECKER.is_type(1.0, "integer")
            found = _exact(schema.text, whole=whole)
            # With resources of its own nothing is fetched from where a schema says that others lie.
            others = Referred().with_resources(
                (uri, Resource.from_contents(_exact(each.text, whole=whole), default_specification=DRAFT7))
                for name, each in referred.items()
                for uri in {name, urljoin(_id(found), name)}  # a reference by its name begins at the schema's own id
            )
        except (ValueError, ArithmeticError, SchemaError):
            raise Broken("is no JSON Schema") from None
        return JsonCheck(kind(found, registry=others), whole)


@dataclass(frozen=True)
class JsonCheck:
    """The records of one schema; `whole` says whether its draft takes 1.0 for a whole number."""

    validator: Any
    whole: bool = False

    def text(self, payload: bytes) -> bytes:
        """The record as JSON; Broken where it is none, or its schema does not take it: says by which of its rules."""
        if self.validator is None:
            return payload
        try:
            record = _exact(payload, whole=self.whole)
        except (ValueError, ArithmeticError, RecursionError):
            raise Undecodable("broken record") from None
        try:
            with localcontext(prec=_DIGITS):
                problem = next(self.validator.iter_errors(record), None)
        except Exception:  # noqa: BLE001 -- a reference that leads nowhere, a pattern that is none: each library has its own
            raise Broken("cannot be used to validate records") from None
        if problem is not None:
            raise Broken(f"does not take the record ({'.'.join(str(part) for part in problem.absolute_schema_path)})")
        return payload


def _exact(text: str | bytes, *, whole: bool) -> Any:
    """What a text of JSON says: 19.99 is a multiple of 0.01, which the binary fractions nearest to them are not.

    With `whole` 1.0 becomes 1: validators take no decimal for a whole number.
    """

    def number(written: str) -> Decimal | int:
        found = Decimal(written)
        is_whole = whole and abs(found.adjusted()) < _DIGITS and found == found.to_integral_value()
        return int(found) if is_whole else found

    return json.loads(text, parse_float=number)


def _id(schema: Any) -> str:
    return str(schema.get("$id", "")) if isinstance(schema, dict) else ""


def schema_of(columns: StructType, title: str) -> str:
    """The schema of rows written as JSON, closed: a column that is added later is then compatible."""
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **_object(columns)})


def _object(columns: StructType) -> dict[str, Any]:
    properties = {column.name: _or_null(_typed(column.dataType)) for column in columns.fields}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _typed(type_: DataType) -> dict[str, Any]:
    if isinstance(type_, StructType):
        return _object(type_)
    if isinstance(type_, ArrayType):
        return {"type": "array", "items": _or_null(_typed(type_.elementType))}
    if isinstance(type_, MapType):
        return {"type": "object", "additionalProperties": _or_null(_typed(type_.valueType))}
    if isinstance(type_, BooleanType):
        return {"type": "boolean"}
    if isinstance(type_, IntegralType):
        return {"type": "integer"}
    if isinstance(type_, DecimalType):
        return {"type": "number"}
    if isinstance(type_, DoubleType | FloatType):
        return {"type": ["number", "string"]}  # what is no number (NaN, Infinity) is written as a text
    return {"type": "string"}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*kinds, "null"]}
