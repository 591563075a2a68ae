"""The table [registry]: where schemas are by their ids, and who asks."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, PlainValidator

from streamproof.config.fields import Options, Table, Text, text, wrong
from streamproof.config.problems import Problem

if TYPE_CHECKING:
    from pydantic import BaseModel

    from streamproof.config.positions import KeyPath

FORMATS = ("avro", "json_schema", "protobuf")
"""The formats whose records name their schema by an id."""


def _url(value: object) -> str:
    url = text(value)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise wrong("is no address", 'It must be one such as "http://localhost:8081".')
    if parts.username or parts.password:
        raise wrong("holds a user or a password", "", 'Write user = "..." and password = "${env:...}" beside it.')
    return url


class RegistryConfig(Table):
    """A schema registry that speaks Confluent's API.

    Parameters
    ----------
    url
        Its address, with the path of the API where it has one.
    user, password
        Sent as basic authentication.
    headers
        Sent with every question: { Authorization = "Bearer ${env:TOKEN}" }.
    """

    url: Annotated[str, PlainValidator(_url)]
    user: Text | None = None
    password: Text | None = None
    headers: Options = Field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address without a slash at its end."""
        return str(self.url).rstrip("/")

    @property
    def sent(self) -> dict[str, str]:
        """The headers of every question, credentials among them."""
        given = {
            name: value.strip() for name, value in self.headers.items()
        }  # what a client says of a line end in one holds its value
        if self.user is None:
            return given
        pair = b64encode(f"{self.user!s}:{self.password or ''}".encode()).decode()
        return {**given, "Authorization": f"Basic {pair}"}


def said_of(format_: str, registry: RegistryConfig | None) -> str:
    """What is said of the registry of a source or a sink, after what it is bound to; empty without one."""
    return "" if registry is None else f", {format_} by the registry {registry.address}"


def with_registry(
    path: "KeyPath", table: "BaseModel", shared: RegistryConfig | None, root: Path, problems: list[Problem]
) -> "BaseModel":
    """A source or sink that knows its registry and finds its schema's file; the problems are noted."""
    own: Any = table
    without = "registry" not in type(own).model_fields  # a file of Avro says its own schema
    if without or getattr(own, "format", None) not in FORMATS:
        problems.extend(_keys_of_no_use(path, own))
        return table
    found: dict[str, object] = {"registry": own.registry or shared}
    if found["registry"] is None:
        problems.append(
            Problem(
                path, f'has format "{own.format}", and no registry is named.', remedy='Write [registry] with url = "http://...".'
            )
        )
    if own.schema_file is not None:
        file = root / own.schema_file
        if not file.is_file():
            problems.append(Problem((*path, "schema_file"), f"schema_file names {own.schema_file}, and there is no such file."))
        found["schema_file"] = str(file.absolute())
    return table.model_copy(update=found)


def _keys_of_no_use(path: "KeyPath", table: Any) -> Iterator[Problem]:
    for key in ("schema_file", "message", "subject"):
        if getattr(table, key, None) is not None:
            yield Problem((*path, key), f'{key} is for the formats of a registry, and the format is "{table.format}".')
