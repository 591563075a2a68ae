"""`streamproof schema check NEW --topic T`: is a new schema compatible with what the topic holds, in seconds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from streamproof.config import RegistryConfig
    from streamproof.connectors.registry.compatibility import Comparison

EXAMPLES = """\b
Examples:
  streamproof schema check trade.avsc --topic trades --registry http://localhost:8081
  streamproof schema check trade.avsc --topic trades --job my_job --profile services
  streamproof schema check trade.avsc --topic trades --compatibility full_transitive

\b
What the levels ask (add _transitive for every version, else the newest counts):
  backward   the new schema reads what the old one has written: readers first
  forward    the old schema reads what the new one writes: writers first
  full       both

\b
Exit codes:
  0  compatible      1  not compatible, or the registry does not answer      2  wrong usage, or no schema
"""

_TYPES = {".avsc": "AVRO", ".json": "JSON", ".proto": "PROTOBUF"}

app = typer.Typer(help="Check schemas against a registry.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _schema() -> None:
    pass


@app.command("check", epilog=EXAMPLES, short_help="Check whether a new schema is compatible with a topic's.")
def check(
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The new schema: a file .avsc, .json (JSON Schema) or .proto.")],
    topic: Annotated[str, typer.Option(metavar="TOPIC", help="The topic whose schemas it is compared with.")],
    compatibility: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="backward, forward or full, each also with _transitive. Without it: what the registry asks for."
        ),
    ] = None,
    registry: Annotated[
        str | None, typer.Option(metavar="URL", help="The registry. Without it: that of the job's [registry].")
    ] = None,
    job: Annotated[str, typer.Option(metavar="TARGET", help="The job whose streamproof.toml names the registry.")] = ".",
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Use the keys of [profile.NAME] in place of the others.")
    ] = None,
    key: Annotated[bool, typer.Option("--key", help="Compare the schema of the keys, not of the values.")] = False,
    first: Annotated[bool, typer.Option("--first", help="Pass if the topic has no schema yet.")] = False,
) -> int:
    """Compare a new schema with every version that a topic's subject has. It starts no Spark and registers nothing."""
    fresh, type_ = _read(new)
    level = None if compatibility is None else _level(compatibility)
    config = _registry(registry, job, profile)
    from streamproof.connectors.extras import library

    library("httpx", "registry", "The check of schemas")
    from streamproof._jvm import jars, production_jar
    from streamproof.connectors.registry.client import RegisteredSchema, Registry
    from streamproof.connectors.registry.compatibility import class_path, compared
    from streamproof.runtime.spark.environment import find_java, spark_jars

    jars()
    subject, asked = f"{topic}-{'key' if key else 'value'}", Registry.of(config)
    out = screen.console()
    if first and not asked.versions(subject):
        out.print(f"{subject} has no schema yet: {new} would be the first")
        return 0
    java = find_java().command if type_ == "AVRO" else ""
    found = compared(
        asked, subject, RegisteredSchema(type_, fresh), level, java=java, jars=class_path(spark_jars(), str(production_jar()))
    )
    _print(found, new)
    return 0 if found.compatible else 1


def _read(new: Path) -> tuple[str, str]:
    if new.suffix not in _TYPES:
        raise ConfigurationError(f"{new} is no schema by its name.", required=f"It ends in {', '.join(_TYPES)}.")
    try:
        return new.read_text(encoding="utf-8"), _TYPES[new.suffix]
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigurationError(f"{new} cannot be read: {getattr(problem, 'strerror', None) or 'it is no UTF-8 text'}.") from None


def _level(written: str) -> str:
    from streamproof.config.problems import did_you_mean, one_of
    from streamproof.connectors.registry.compatibility import LEVELS

    level = written.lower().replace("-", "_")
    if level not in LEVELS:
        raise ConfigurationError(
            f'--compatibility is "{written}".{did_you_mean(level, LEVELS)}', required=f"It must be {one_of(LEVELS)}."
        )
    return level


def _registry(url: str | None, job: str, profile: str | None) -> "RegistryConfig":
    from pydantic import ValidationError

    from streamproof.config import RegistryConfig, load

    if url is not None:
        try:
            return RegistryConfig(url=url)
        except ValidationError:
            raise ConfigurationError(
                "--registry is no address.",
                required='It must be one such as "http://localhost:8081", without user and password.',
                remedy="Credentials belong into [registry] of a streamproof.toml, which --job names.",
            ) from None
    found = load(job, profile=profile).registry
    if found is None:
        raise ConfigurationError(
            f"No registry is named: neither --registry, nor [registry] in the streamproof.toml of {job}.",
            remedy="Give --registry http://localhost:8081.",
        )
    return found


def _print(found: "Comparison", new: Path) -> None:
    out = screen.console()
    asks = {
        "none": "none: nothing is asked",
        "backward": "backward: it must read what the newest has written",
        "forward": "forward: the newest must read what it writes",
        "full": "full: it and the newest must read each other",
        "backward_transitive": "backward_transitive: it must read what each has written",
        "forward_transitive": "forward_transitive: each must read what it writes",
        "full_transitive": "full_transitive: it and each must read each other",
    }
    out.print(f"{new} against {found.subject}, {asks.get(found.level, found.level)}")
    for each in found.versions:
        does = "compatible" if not each.reasons else "not compatible"
        first, *more = [f"   {reason}" for reason in each.reasons] or [""]
        unasked = "" if each.counts or not each.reasons else " (not asked)"
        out.print(f"  {screen.sign(not each.reasons)} version {each.version:<4} {does}{unasked}{first}")
        for reason in more:
            out.print(f"    {'':<12} {'':<14}{reason}")
    out.print()
    out.print("compatible" if found.compatible else "not compatible: mend what is named above, or write another topic")
