"""Prepares the proof of a PySpark job: reads the samples, perturbs them, writes them as the batches of a scenario."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from streamproof.config.entry import job_functions
from streamproof.core.paths import display
from streamproof.errors import ScenarioError
from streamproof.prove.process.engine import Engine
from streamproof.prove.process.imported_once import PYSPARK_JOBS
from streamproof.prove.process.packages import fetched
from streamproof.prove.scenario.perturb import UNPERTURBED, Perturbation, perturb
from streamproof.prove.scenario.sample import Sample, read_sample
from streamproof.prove.services import Services
from streamproof.prove.subjects.pyspark.events import Offered, write_events
from streamproof.prove.subjects.pyspark.readback import ReadBack
from streamproof.prove.subjects.pyspark.subject import PysparkSubject
from streamproof.prove.subjects.pyspark.told import Told, ToldInput
from streamproof.prove.subjects.subject import Preparation

FILES_PER_BATCH = 2
BATCHES = 5
_KAFKA = "kafka:"


@dataclass(frozen=True)
class Wanted:
    """A PySpark job as the user names it.

    Parameters
    ----------
    target
        "file.py:function", or "file.py" for a script.
    inputs
        By name the sample; "kafka:FILE" gives a function of DataFrames Kafka's columns.
    arguments, words, environment, modes, tables, conf
        As in `Told`.
    readers
        "NAME=module:function" for what the job writes by itself.
    as_is
        Whether the sample is taken as it lies in its file.
    show_values
        Whether values of rows may stand in reports.
    """

    target: str
    inputs: Mapping[str, str]
    arguments: Mapping[str, str] = field(default_factory=dict)
    words: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    readers: Sequence[str] = ()
    as_is: bool = False
    show_values: bool = False
    conf: Mapping[str, str] = field(default_factory=dict)


class PysparkPreparation(Preparation):
    """A PySpark job and its samples.

    Raises
    ------
    ScenarioError
        If the file, the function or a sample is not there or is not what it should be.
    """

    modules = PYSPARK_JOBS

    def __init__(self, wanted: Wanted, *, seed: int | None = None, events: int | None = None, batches: int | None = None) -> None:
        self.wanted, self._limit = wanted, events
        self.seed, self.batches = seed if seed is not None else 0, batches or BATCHES
        file, _, function = wanted.target.rpartition(":") if ":" in wanted.target else (wanted.target, "", "")
        self._file = _existing(Path(file))
        _require_function(self._file, function)
        self.name, self._function = wanted.target, function
        if not wanted.inputs:
            raise ScenarioError(
                f"{wanted.target} is plain PySpark, and there are no events for it.",
                required="A sample of each of its inputs: JSON lines, CSV, Parquet or Avro.",
                remedy=f"streamproof prove {wanted.target} --input NAME=sample.jsonl",
            )
        self.noun = next(iter(wanted.inputs))
        self.spark: Mapping[str, str] = fetched(wanted.conf)
        self.stores: Mapping[str, str] = {}
        self._readers = [ReadBack.parse(text, self._file.parent) for text in wanted.readers]
        self._samples = {name: self._sample(name, place) for name, place in wanted.inputs.items()}
        for path in wanted.tables.values():
            _existing(Path(path))
        self.events = self.records = sum(len(sample.records) for sample in self._samples.values())
        self._offered: dict[str, Offered] = {}

    def _sample(self, name: str, place: str) -> Sample:
        sample = read_sample(name, Path(place.removeprefix(_KAFKA)), limit=self._limit)
        files = self.batches * FILES_PER_BATCH
        if len(sample.records) < files:
            raise ScenarioError(
                f"{display(sample.path)} has {len(sample.records)} records.",
                required=f"{self.batches} batches of {FILES_PER_BATCH} files need {files} at least.",
                remedy=f"Take a larger sample, or fewer batches: --batches {max(1, len(sample.records) // FILES_PER_BATCH)}",
            )
        return sample

    def make(self) -> None:
        self._events = {
            name: perturb(sample, UNPERTURBED if self.wanted.as_is else Perturbation(), self.seed)
            for name, sample in self._samples.items()
        }
        self.events = sum(map(len, self._events.values()))

    def subject(self, engine: Engine, folder: Path, services: Services) -> PysparkSubject:
        events = folder / "events"
        files = self.batches * FILES_PER_BATCH
        offered = {name: write_events(self._samples[name], its, events, files) for name, its in self._events.items()}
        inputs = [
            ToldInput(name, sample.format, sample.schema, kafka=self.wanted.inputs[name].startswith(_KAFKA))
            for name, sample in self._samples.items()
        ]
        told = Told(
            str(self._file),
            self._function,
            inputs,
            self.wanted.arguments,
            self.wanted.words,
            self.wanted.environment,
            self.wanted.modes,
            {name: str(Path(path).resolve()) for name, path in self.wanted.tables.items()},
            self.spark,
        )
        data = {name: str(events / name) for name in offered}
        return PysparkSubject(
            self.name, told, folder, engine, data, offered, FILES_PER_BATCH, self.seed, self._readers, not self.wanted.show_values
        )


def _existing(file: Path) -> Path:
    if not file.is_file():
        what = f"{display(file)} is a folder." if file.is_dir() else f"There is no {display(file)}."
        raise ScenarioError(what, required="A file is wanted.", remedy="Look at its name.")
    return file.resolve()


def _require_function(file: Path, function: str) -> None:
    """ScenarioError if the file is no Python, or has no such function; the function may also be an import or an assignment."""
    known = [one.name for one in job_functions(file)]
    if not function or function in known:
        return
    names = {node.id for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Name)}
    names |= {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    if function not in names:
        raise ScenarioError(
            f"{display(file)} has no function {function}.",
            required=f"It has {', '.join(known) or 'none'}.",
            remedy="Name one of them.",
        )
