"""report.json: written whole or not at all, read with its shape checked. The shape is in `streamproof.report.shape`."""

import json
import os
from pathlib import Path
from typing import Any, cast

from streamproof.config.secret import redact
from streamproof.core.masking import masked
from streamproof.errors import ConfigurationError
from streamproof.report.shape import Report, problems


def write_json(report: Report, path: Path) -> None:
    """Write the report to `path` as JSON; a reader sees the old file or the whole new one.

    The shape is not checked here: a proof of an hour must not lose its report to a missing key.
    """
    write_whole(path, json.dumps(report, indent=1, ensure_ascii=True, allow_nan=False) + "\n")


def read_json(path: Path) -> Report:
    """The report that lies at `path`.

    Raises
    ------
    ConfigurationError
        If there is no such file, it is no JSON, or it is no report; the message names the first places that are wrong.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as problem:
        raise ConfigurationError(
            f"There is no report at {path}.", remedy="See which runs there are: streamproof report list"
        ) from problem
    except (OSError, ValueError) as problem:
        raise ConfigurationError(
            f"{path} cannot be read as JSON: {problem}", remedy="Prove again, or look at an older run."
        ) from problem
    wrong = problems(found)
    if wrong:
        raise ConfigurationError(
            f"{path} is no report of this version: {'; '.join(wrong[:3])}",
            required="A report.json as streamproof prove writes it.",
            remedy="Read it with the version that wrote it, or prove again.",
        )
    return cast("Report", found)


def without_secrets(report: Report) -> Report:
    """The same report with values of `${env:NAME}`, and passwords in addresses and in `key=value` texts, masked wherever they stand."""
    return cast("Report", _masked(report))


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return masked(redact(value))
    if isinstance(value, list):
        return [_masked(member) for member in value]
    if isinstance(value, dict):
        return {key: _masked(member) for key, member in value.items()}
    return value


def write_whole(path: Path, text: str) -> None:
    """Write UTF-8 text beside `path` and rename it into place; what cannot be encoded is written as an escape."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
