"""Is a new schema compatible with the versions of a subject, and if not, why (C2)."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamproof.connectors.registry.client import RegisteredSchema, Registry
from streamproof.errors import ConfigurationError, JvmGone

LEVELS = ("none", "backward", "backward_transitive", "forward", "forward_transitive", "full", "full_transitive")
_CLASS = "io.streamproof.AvroCompatibility"
_JARS = ("avro-[0-9]*", "jackson-core-[0-9]*", "jackson-databind-*", "jackson-annotations-*", "slf4j-api-*", "commons-lang3-*")


@dataclass(frozen=True)
class Compared:
    """How a new schema stands to one version.

    Parameters
    ----------
    counts
        Whether the level asks about this version: all where it is transitive, else the newest.
    reasons
        What is not compatible, as "field: why"; none where it is.
    """

    version: int
    counts: bool
    reasons: Sequence[str]


@dataclass(frozen=True)
class Comparison:
    """How a new schema stands to all versions of a subject at a level."""

    subject: str
    level: str
    versions: Sequence[Compared]

    @property
    def compatible(self) -> bool:
        return not any(each.reasons for each in self.versions if each.counts)


def compared(
    registry: Registry, subject: str, fresh: RegisteredSchema, level: str | None, *, java: str, jars: Sequence[str]
) -> Comparison:
    """Compares a new schema with every version of a subject.

    Parameters
    ----------
    level
        One of `LEVELS`; None takes what the registry has for the subject.
    java, jars
        The command, and the class path on which Avro and our own classes are.

    Raises
    ------
    ConfigurationError
        If the subject has no version, is of another type, or the new schema is none.
    RegistryError
        If the registry does not answer.
    """
    numbers = registry.versions(subject)
    if not numbers:
        raise ConfigurationError(
            f"The schema registry {registry.address} has no schema of {subject}.",
            required="A new schema is compared with those that are there; the first of a subject needs no comparison.",
            remedy="Mend --topic, or give --first if it is to be the first.",
        )
    versions = {number: found for number in numbers if (found := registry.version(subject, number)) is not None}
    configured = registry.level(subject)
    asked = configured if level is None else level
    for number, old in versions.items():
        if old.type != fresh.type:
            raise ConfigurationError(
                f"The new schema is {fresh.type}, and version {number} of {subject} is {old.type}.",
                required="All versions of a subject are of one type.",
            )
    if fresh.type == "AVRO":
        reasons = _by_avro(registry, fresh, versions, asked, java, jars)
    elif asked == configured:
        reasons = _by_registry(registry, subject, fresh, versions)
    else:
        raise ConfigurationError(
            f"{subject} asks for {configured}, and --compatibility is {asked}.",
            required="Levels other than the registry's own can be asked for Avro alone: of JSON Schema and Protobuf the registry says what fits.",
            remedy="Leave --compatibility out, or set the level in the registry.",
        )
    transitive, newest = asked.endswith("_transitive"), max(versions)
    rows = [Compared(number, asked != "none" and (transitive or number == newest), tuple(reasons[number])) for number in versions]
    return Comparison(subject, asked, rows)


def _by_registry(
    registry: Registry, subject: str, fresh: RegisteredSchema, versions: Mapping[int, RegisteredSchema]
) -> dict[int, list[str]]:
    reasons = {}
    for number in versions:
        fits, said = registry.accepts(subject, number, fresh)
        reasons[number] = [] if fits else list(said) or ["the registry says no, and gives no reason"]
    return reasons


def _by_avro(
    registry: Registry,
    fresh: RegisteredSchema,
    versions: Mapping[int, RegisteredSchema],
    level: str,
    java: str,
    jars: Sequence[str],
) -> dict[int, list[str]]:
    """By Avro's own comparison, in a small Java program without Spark."""
    asked = {"new": _whole(registry, fresh), "versions": [_whole(registry, old) for old in versions.values()]}
    command = [java, "-XX:TieredStopAtLevel=1", "-cp", ":".join(jars), _CLASS]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    if done.returncode < 0:
        raise JvmGone(
            "The JVM that compares the schemas was killed.",
            required="Nothing was registered: a comparison only reads.",
            remedy="Run it again.",
        )
    if done.returncode:
        raise ConfigurationError(
            f"The comparison could not be made: {(done.stderr.strip().splitlines() or ['no reason given'])[0]}",
            required="It needs Java 17 or later, and the jars of PySpark.",
        )
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise ConfigurationError(f"The new schema is no Avro schema: {answer['error']}.")
    return {number: list(_reasons(found, level)) for number, found in zip(versions, answer["versions"], strict=True)}


def _reasons(found: Mapping[str, Any], level: str) -> Sequence[str]:
    if "error" in found:
        return [f"it is no Avro schema: {found['error']}"]
    way = level.removesuffix("_transitive")
    reasons: list[str] = []
    if way in ("backward", "full"):
        reasons += [_said(each, "the new one cannot read it") for each in found["backward"]]
    if way in ("forward", "full"):
        reasons += [_said(each, "it cannot read the new one") for each in found["forward"]]
    return list(dict.fromkeys(reasons))


def _said(found: Mapping[str, str], what: str) -> str:
    return f"{what}: {found['field']}{': ' if found['field'] else ''}{found['reason']}"


def _whole(registry: Registry, schema: RegisteredSchema) -> dict[str, Any]:
    return {"schema": schema.text, "references": [each.text for each in registry.referred(schema).values()]}


def class_path(spark_jars: Any, own: str) -> list[str]:
    """The jars that the comparison of Avro needs: our own, and some of those that PySpark brings in its folder."""
    return [own, *(str(jar) for pattern in _JARS for jar in sorted(spark_jars.glob(f"{pattern}.jar")))]
