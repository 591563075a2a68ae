"""What a schema registry is asked, by the driver and by Python workers; Spark's own tasks ask by `Registry.java`."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from streamproof.config import RegistryConfig
from streamproof.errors import ConfigurationError, RegistryError, RegistryUnavailable

MARK = "streamproof-registry:"
"""What begins the message of a task that the registry has not answered: the driver looks for it."""
SILENT = "silent:"
"""Stands after the mark where the registry is down, or says so, and does not refuse us."""
MARK_OF_ROW = "streamproof-row:"
"""The same of a row that its schema does not take."""
SCHEMA_TYPES: Mapping[str, str] = {"avro": "AVRO", "json_schema": "JSON", "protobuf": "PROTOBUF"}
_ATTEMPTS = 3
_PAUSE_SECONDS = 0.25
_JSON = {"Content-Type": "application/vnd.schemaregistry.v1+json", "Accept": "application/vnd.schemaregistry.v1+json"}


@dataclass(frozen=True)
class Reference:
    """A schema that another refers to: the name it goes by there, and which version of which subject it is."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema as the registry has it; `type` is AVRO, JSON or PROTOBUF, `id` is 0 where it is not known."""

    type: str
    text: str
    references: tuple[Reference, ...] = ()
    id: int = 0


@dataclass(frozen=True)
class Registry:
    """A registry at an address. Goes to workers, with credentials that are not shown.

    Its methods raise RegistryError where the registry does not answer, or answers with anything but what was asked for.
    """

    address: str
    headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, config: RegistryConfig) -> "Registry":
        return cls(str(config.address), config.sent)

    def schema(self, schema_id: int) -> RegisteredSchema | None:
        """The schema of an id; None where there is none."""
        found = self._get(f"/schemas/ids/{schema_id}", f"schema {schema_id}")
        return None if found is None else _schema(found, schema_id)

    def versions(self, subject: str) -> Sequence[int]:
        """The versions of a subject, oldest first; none where there is no such subject."""
        return sorted(self._get(f"/subjects/{quote(subject, safe='')}/versions", f"the versions of {subject}") or [])

    def version(self, subject: str, version: int | str) -> RegisteredSchema | None:
        """A version of a subject, or "latest"; None where there is none."""
        found = self._get(f"/subjects/{quote(subject, safe='')}/versions/{version}", f"version {version} of {subject}")
        return None if found is None else _schema(found, int(found.get("id", 0)))

    def referred(self, schema: RegisteredSchema) -> dict[str, RegisteredSchema]:
        """The schemas that one refers to, by their names, each after those that it refers to itself."""
        found: dict[str, RegisteredSchema] = {}
        for each in schema.references:
            inner = self.version(each.subject, each.version)
            if inner is None:
                raise RegistryError(f"The schema registry {self.address} does not know version {each.version} of {each.subject}.")
            found |= {**self.referred(inner), each.name: inner}
        return found

    def level(self, subject: str) -> str:
        """The compatibility that a subject asks for: "backward_transitive"; "none" where nothing is said."""
        found = self._get(f"/config/{quote(subject, safe='')}?defaultToGlobal=true", f"the compatibility of {subject}")
        found = found or self._get("/config", "its compatibility") or {}
        return str(found.get("compatibilityLevel", "NONE")).lower()

    def register(self, subject: str, schema: RegisteredSchema) -> int:
        """The id of a schema, registered where it is not there.

        Raises
        ------
        ConfigurationError
            If the registry refuses it, with the reason that it gives.
        """
        answer = self._post(f"/subjects/{quote(subject, safe='')}/versions", schema, f"the registration of {subject}")
        if answer.status_code in (409, 422):
            incompatible = answer.status_code == 409
            raise ConfigurationError(
                f"The schema registry {self.address} refuses the schema of {subject}: {_said(answer)}",
                required="A new version is compatible with those before it, as the subject asks for."
                if incompatible
                else "It takes schemas that are valid.",
                remedy=f"streamproof schema check shows what does not fit; or write another topic, or mend the compatibility of {subject}."
                if incompatible
                else "",
            )
        return int(self._expected(answer, f"the registration of {subject}")["id"])

    def id_of(self, subject: str, schema: RegisteredSchema) -> int | None:
        """The id of a schema that is registered under a subject; None where it is not."""
        what = f"the schema of {subject}"
        answer = self._post(f"/subjects/{quote(subject, safe='')}", schema, what)
        return None if answer.status_code == 404 and _code(answer) // 100 == 404 else int(self._expected(answer, what)["id"])

    def accepts(self, subject: str, version: int, schema: RegisteredSchema) -> tuple[bool, Sequence[str]]:
        """Whether a schema is compatible with a version as its subject asks for, and what the registry says against it.

        Raises
        ------
        ConfigurationError
            If it is no valid schema.
        """
        what = f"the comparison with version {version} of {subject}"
        path = f"/compatibility/subjects/{quote(subject, safe='')}/versions/{version}?verbose=true"
        answer = self._post(path, schema, what)
        if answer.status_code == 422:
            raise ConfigurationError(f"The schema registry {self.address} says that the schema is not valid: {_said(answer)}")
        found = self._expected(answer, what)
        return bool(found["is_compatible"]), tuple(str(each) for each in found.get("messages") or ())

    def _get(self, path: str, what: str) -> Any:
        answer = self._asked("GET", path, what)
        if answer.status_code == 404 and _code(answer) // 100 == 404:  # another 404 is that of a wrong address
            return None
        return self._expected(answer, what)

    def _post(self, path: str, schema: RegisteredSchema, what: str) -> httpx.Response:
        references = [{"name": each.name, "subject": each.subject, "version": each.version} for each in schema.references]
        named: dict[str, Any] = {} if schema.type == "AVRO" else {"schemaType": schema.type}
        return self._asked(
            "POST", path, what, {"schema": schema.text, **named, **({"references": references} if references else {})}
        )

    def _asked(self, method: str, path: str, what: str, content: Any = None) -> httpx.Response:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = httpx.request(method, self.address + path, json=content, headers={**_JSON, **self.headers}, timeout=10)
            except httpx.HTTPError as problem:
                if attempt == _ATTEMPTS:
                    raise _silent(self.address, what, problem) from None
            else:
                if attempt == _ATTEMPTS or (answer.status_code < 500 and answer.status_code != 429):
                    return answer
            threading.Event().wait(_PAUSE_SECONDS * attempt)
        raise AssertionError("the last attempt ends")

    def _expected(self, answer: httpx.Response, what: str) -> Any:
        if answer.status_code == 200:
            try:
                return answer.json()
            except ValueError:
                pass
        raise refusal(self.address, what, answer.status_code, _said(answer))


def refusal(address: str, what: str, status: int, said: str) -> RegistryError:
    """The error for an answer that is none, in one place."""
    if status in (401, 403):
        return RegistryError(
            f"The schema registry {address} refuses us ({status}), asked for {what}.",
            required="Nothing is lost: what was not read is still in the topic.",
            remedy="Mend user and password, or headers, in [registry].",
        )
    if status in (200, 404):
        return RegistryError(
            f"{address} answers as no schema registry does ({status}), asked for {what}.",
            remedy="Mend url in [registry]: the path of Confluent's API belongs to it (Apicurio: /apis/ccompat/v7).",
        )
    kind = RegistryUnavailable if status >= 500 or status == 429 else RegistryError
    return kind(
        f"The schema registry {address} answers {status}, asked for {what}{f': {said}' if said else ''}.",
        required="Nothing is lost: what was not read is still in the topic, and no record is rejected for it.",
        remedy="Look at the registry's log, then run again.",
    )


def _silent(address: str, what: str, problem: Exception) -> RegistryError:
    return RegistryUnavailable(
        f"The schema registry {address} does not answer, asked for {what}: {problem or type(problem).__name__}.",
        required="Nothing is lost: what was not read is still in the topic, and no record is rejected for it.",
        remedy="Look whether it runs and is reached from here, then run again.",
    )


def _schema(found: Mapping[str, Any], schema_id: int) -> RegisteredSchema:
    references = tuple(Reference(each["name"], each["subject"], int(each["version"])) for each in found.get("references") or ())
    return RegisteredSchema(found.get("schemaType") or "AVRO", found["schema"], references, schema_id)


def _code(answer: httpx.Response) -> int:
    try:
        return int(answer.json().get("error_code", 0))
    except (ValueError, AttributeError):
        return 0


def _said(answer: httpx.Response) -> str:
    try:
        said = str(answer.json().get("message", ""))
    except (ValueError, AttributeError):
        return ""
    return said.removeprefix("io.apicurio.registry.rules.RuleViolationException: ")
