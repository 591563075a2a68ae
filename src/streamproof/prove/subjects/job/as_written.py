"""What the user's configuration file says of event times, word for word: the oracle reads durations itself (R28)."""

import tomllib
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.oracle.durations import micros

if TYPE_CHECKING:
    from streamproof.config import JobConfig


def event_time_asked(config: "JobConfig", source: str) -> AskedTime | None:
    """The event time of a source; None if it declares none.

    What the file does not write, or takes from the environment, is as the configuration has it.
    """
    declared = config.source[source].event_time
    if declared is None:
        return None
    tree = tomllib.loads(config.file.read_text(encoding="utf-8"))
    overlay = _table(tree, "profile", config.profile) if config.profile else {}
    written = _table(tree, "source", source, "event_time") | _table(overlay, "source", source, "event_time")
    return AskedTime(
        declared.column,
        _duration(written.get("lag")) or declared.lag,
        _duration(written.get("max_future")) or declared.max_future,
        _duration(written.get("idle_after")) or declared.idle_after,
    )


def event_times_asked(config: "JobConfig", sources: Sequence[str]) -> dict[str, AskedTime | None]:
    """By source the event time of each, where a query has several; nothing where it has one."""
    return {name: event_time_asked(config, name) for name in sources} if len(sources) > 1 else {}


def _table(tree: Any, *path: str) -> dict[str, Any]:
    for key in path:
        tree = tree.get(key, {}) if isinstance(tree, dict) else {}
    return tree if isinstance(tree, dict) else {}


def _duration(written: Any) -> str | timedelta | None:
    """The text, if the oracle can read it."""
    if not isinstance(written, str):
        return None
    try:
        micros(written)
    except ValueError:
        return None
    return written
