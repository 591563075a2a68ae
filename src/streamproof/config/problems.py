"""What is wrong with a configuration file, in sentences: where, what was found, what is required, what to do."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamproof.config.positions import KeyPath
from streamproof.config.secret import redact
from streamproof.core.paths import display
from streamproof.errors import ConfigurationError

TABLES = ("job", "source", "sink", "table", "registry", "spark", "backup", "openlineage", "profile")
_NAMED_TABLES = ("source", "sink", "table")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, at one place of the file.

    Parameters
    ----------
    path
        The keys that lead to the place, for example ("source", "trades", "event_time", "lagg").
    found
        What is wrong, as the end of a sentence that begins with the section: 'event_time has no key "lagg".'
    required, remedy
        Whole sentences, or empty.
    """

    path: KeyPath
    found: str
    required: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class Origin:
    """The file that the values came from: where each key stands, and which profile was laid over it."""

    file: Path
    lines: Mapping[KeyPath, int]
    profile: str | None = None

    def where(self, path: KeyPath) -> str:
        """File and line of the key, or of the nearest table around it: "my_job/streamproof.toml line 9"."""
        line = self.line(path)
        return f"{display(self.file)} line {line}" if line else display(self.file)

    def section(self, path: KeyPath) -> str:
        """The table that the key stands in, as the file writes it: "[profile.local.source.trades]"; empty at the top."""
        table = table_of(path)
        if not table or table[0] not in TABLES:
            return ""
        written = self._written(path)
        if self.profile and written[:2] == ("profile", self.profile):
            table = ("profile", self.profile, *table)
        return f"[{'.'.join(table)}] "

    def _written(self, path: KeyPath) -> KeyPath:
        """The nearest place that the file has; the profile's where it writes the very key, else the base's before the profile's."""
        overlay = ("profile", self.profile) if self.profile else None
        path = as_written(path)
        if overlay and (*overlay, *path) in self.lines:
            return (*overlay, *path)
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return path[:length]
            if overlay and (*overlay, *path[:length]) in self.lines:
                return (*overlay, *path[:length])
        return ()

    def line(self, path: KeyPath) -> int:
        """The line of the key, or of the nearest table around it; 0 if there is none."""
        return self.lines.get(self._written(path), 0)


def as_written(path: KeyPath) -> KeyPath:
    """The path of a key as TOML has it: the table of one of several sinks, "exposure.postgres", is a table inside a table there."""
    return tuple(part for name in path[:2] for part in name.split(".")) + path[2:] if path[:1] == ("sink",) else path


def table_of(path: KeyPath) -> KeyPath:
    """The part of a path that is a table header: ("job",) or ("source", "trades")."""
    if path[:1] == ("profile",):
        return path[:2] + table_of(path[2:])
    return path[:2] if path[:1] and path[0] in _NAMED_TABLES else path[:1]


def key_of(path: KeyPath) -> str:
    """The part of a path after the table header: "event_time.lag"."""
    return ".".join(path[len(table_of(path)) :])


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant, if one is near enough."""
    by_lower = {name.lower(): name for name in names}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def did_you_mean(word: str, names: Iterable[str], form: str = '"{}"') -> str:
    """The sentence ' Did you mean "lag"?', or nothing."""
    found = nearest(word, names)
    return f" Did you mean {form.format(found)}?" if found else ""


def one_of(names: Iterable[str]) -> str:
    """'"a", "b" or "c"'."""
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def raise_problems(origin: Origin, problems: Sequence[Problem]) -> None:
    """Raise one error that says all the problems, in the order of the file; return if there is none.

    Raises
    ------
    ConfigurationError
        With message, required and remedy of the problem, or, for several, one message that holds them all.
    """
    if not problems:
        return
    texts = [
        (_message(origin, problem), redact(problem.required), redact(problem.remedy))
        for problem in _in_file_order(origin, problems)
    ]
    if len(texts) == 1:
        message, required, remedy = texts[0]
        raise ConfigurationError(message, required=required, remedy=remedy)
    raise ConfigurationError("\n".join("\n".join(part for part in text if part) for text in texts))


def _message(origin: Origin, problem: Problem) -> str:
    return redact(f"{origin.where(problem.path)}: {origin.section(problem.path) or 'the file '}{problem.found}")


def _in_file_order(origin: Origin, problems: Sequence[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: origin.line(problem.path))
