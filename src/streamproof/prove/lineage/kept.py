"""What a proof keeps beside its report, so that an event can be followed afterwards: the folder `lineage` of the run.

The disks of scenarios are gone by then. What is kept is what the model says of each batch, and the rows that were found. Most scenarios have these in
common, so each piece is a file that is named after its contents, and each scenario has a line that says which are its own.
"""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from streamproof.core.formats import Format, number_in
from streamproof.errors import ConfigurationError

FOLDER = "lineage"
FORMAT = Format("the lineage of a run")
_ABOUT, _SCENARIOS, _EVENTS, _PARTS = "about.json", "scenarios.jsonl", "events.json.gz", "parts"
_DIGEST_BYTES = 12


@dataclass(frozen=True)
class KeptEvent:
    """An event as it was offered.

    Parameters
    ----------
    trace
        Its trace id; a copy of it ends with "+1".
    called
        What people call it: "trade t-003817".
    ids
        The values that it can be asked for by, beside its trace.
    source
        The source, or input, that it is of.
    file, row
        Where it lies: the name of the file and the row in it, from 1.
    time_us
        Its event time as it was made, microseconds UTC; None where it has none.
    """

    trace: str
    called: str
    ids: tuple[str, ...]
    source: str
    file: str
    row: int
    time_us: int | None


@dataclass(frozen=True)
class KeptQuery:
    """What one query of a scenario did.

    Parameters
    ----------
    query
        Its name.
    story
        What the model says, batch by batch (`stories.story_of`), or where there is none the batches alone (`stories.batches_alone`).
    outputs
        The rows that were found, one for each output (`stories.output_of`).
    starts
        By batch which start of the job has staged it, from 1 on; nothing where no manifest says so.
    """

    query: str
    story: Mapping[str, Any]
    outputs: Sequence[Mapping[str, Any]]
    starts: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ToKeep:
    """The same before it is written.

    Parameters
    ----------
    model
        What the story is of: of the same object it is written once.
    story
        Makes the story.
    """

    query: str
    model: object
    story: Callable[[], Mapping[str, Any]]
    outputs: Sequence[Mapping[str, Any]]
    starts: Mapping[int, int] = field(default_factory=dict)


class Keeper:
    """Writes the folder while a proof runs. A proof never fails for it: what cannot be kept is left out, and said."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begun = False
        self._stories: dict[int, tuple[object, str]] = {}
        """By model, which is held so that no other one takes its place, the name of its story."""

    def keep(
        self, scenario: str, events: Callable[[], Sequence[KeptEvent]], queries: Callable[[], Sequence[ToKeep] | None]
    ) -> None:
        """Keeps what one scenario did.

        Parameters
        ----------
        events
            Gives all events; asked for once in a proof.
        queries
            Gives what each query did; None where it is not known.
        """
        line: dict[str, Any] = {"id": scenario}
        try:
            self._begin(events)
            line["queries"] = [self._query(query) for query in queries() or ()]
        except Exception as problem:  # noqa: BLE001 -- a verdict never hangs on what is kept for later
            line["problem"] = f"{type(problem).__name__}: {problem}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / _SCENARIOS).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError:
            return

    def _begin(self, events: Callable[[], Sequence[KeptEvent]]) -> None:
        if self._begun:
            return
        (self._folder / _PARTS).mkdir(parents=True, exist_ok=True)
        (self._folder / _EVENTS).write_bytes(_packed(_text([asdict(event) for event in events()])))
        (self._folder / _ABOUT).write_text(FORMAT.text({}), encoding="utf-8")
        self._begun = True

    def _query(self, query: ToKeep) -> dict[str, Any]:
        if id(query.model) not in self._stories:
            self._stories[id(query.model)] = query.model, self._part(query.story())
        return {
            "query": query.query,
            "story": self._stories[id(query.model)][1],
            "outputs": [self._part(output) for output in query.outputs],
            "starts": {str(batch): start for batch, start in query.starts.items()},
        }

    def _part(self, part: Mapping[str, Any]) -> str:
        """Writes a part unless it is there already; its name."""
        text = _text(part)
        name = blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()
        path = self._folder / _PARTS / f"{name}.json.gz"
        if not path.exists():
            beside = path.with_suffix(".new")
            beside.write_bytes(_packed(text))
            beside.replace(path)
        return name


def _text(value: Any) -> bytes:
    return json.dumps(value, default=str, separators=(",", ":")).encode()


def _packed(text: bytes) -> bytes:
    return gzip.compress(text, compresslevel=1, mtime=0)


class Kept:
    """Reads the folder.

    Parameters
    ----------
    run
        The folder of the run.

    Raises
    ------
    ConfigurationError
        If the run keeps no lineage, or it is damaged.
    UnknownFormat
        If it is of a format that this version does not know.
    """

    def __init__(self, run: Path) -> None:
        self.run, self._folder = run, run / FOLDER
        about = self._folder / _ABOUT
        try:
            text = about.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise _nothing_kept(run, self._first_problem()) from None
        except OSError as problem:
            raise _damaged(about, str(problem)) from None
        FORMAT.require_known(number_in(text), str(about))
        self._read: dict[str, Mapping[str, Any]] = {}

    @cached_property
    def events(self) -> Mapping[str, KeptEvent]:
        """All events by their traces."""
        found = (KeptEvent(**{**each, "ids": tuple(each["ids"])}) for each in self._contents(self._folder / _EVENTS))
        return {event.trace: event for event in found}

    @cached_property
    def scenarios(self) -> Mapping[str, Mapping[str, Any]]:
        """By its id the line of each scenario; where one is there twice, the latest."""
        return {line["id"]: line for line in self._lines()}

    def queries(self, scenario: str) -> list[KeptQuery]:
        """What each query of a scenario did; nothing where nothing was kept of it."""
        return [
            KeptQuery(
                line["query"],
                self._part(line["story"]),
                [self._part(name) for name in line["outputs"]],
                {int(batch): start for batch, start in line["starts"].items()},
            )
            for line in self.scenarios[scenario].get("queries", ())
        ]

    def alike(self) -> list[list[str]]:
        """The scenarios in groups: those of a group have left the same, in batches of the same contents."""
        groups: dict[str, list[str]] = {}
        for name, line in self.scenarios.items():
            if line.get("queries"):
                parts = [(each["query"], each["story"], each["outputs"]) for each in line["queries"]]
                groups.setdefault(json.dumps(parts), []).append(name)
        return list(groups.values())

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        path = self._folder / _SCENARIOS
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError:
            return
        for number, line in enumerate(lines, start=1):
            try:
                found = json.loads(line)
            except ValueError:
                if number == len(lines):  # the proof ended while it wrote
                    return
                raise _damaged(path, f"line {number} is no JSON") from None
            yield found

    def _first_problem(self) -> str:
        return next((str(line["problem"]) for line in self._lines() if "problem" in line), "")

    def _part(self, name: str) -> Mapping[str, Any]:
        if name not in self._read:
            self._read[name] = self._unpacked(name)
        return self._read[name]

    def _unpacked(self, name: str) -> Mapping[str, Any]:
        """A part, read afresh."""
        found: Mapping[str, Any] = self._contents(self._folder / _PARTS / f"{name}.json.gz")
        return found

    def _contents(self, path: Path) -> Any:
        try:
            return json.loads(gzip.decompress(path.read_bytes()))
        except (OSError, EOFError, ValueError) as problem:
            raise _damaged(path, str(problem)) from None


def _nothing_kept(run: Path, problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"{run} has no lineage, so no event can be followed in it."
        + (f" The proof could not keep it: {problem}." if problem else ""),
        required=f"A proof keeps it in the folder {FOLDER} of its run. Proofs of versions before it, and copies of a report alone, have none.",
        remedy="Prove again: the command stands in the report of the run. The same seed makes the same events.",
    )


def _damaged(path: Path, problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path} cannot be read: {problem}.",
        required="The lineage of a run is read as a whole.",
        remedy="Prove again: the command stands in the report of the run.",
    )


__all__ = ["FOLDER", "Keeper", "Kept", "KeptEvent", "KeptQuery", "ToKeep"]
