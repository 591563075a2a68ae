"""Prepares the proof of a PySpark job: reads the samples, perturbs them, writes them as the batches of a scenario."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamproof.config.entry import job_functions
from streamproof.config.problems import did_you_mean
from streamproof.core.paths import display
from streamproof.errors import ScenarioError
from streamproof.prove.process.engine import Engine
from streamproof.prove.process.packages import fetched
from streamproof.prove.process.spark_settings import PLAIN, changed_for_a_plain_job
from streamproof.prove.scenario.declared import SampleFile, as_declared, declared_columns
from streamproof.prove.scenario.perturb import UNPERTURBED, Perturbation, perturb
from streamproof.prove.scenario.sample import Sample, read_sample
from streamproof.prove.services import Services
from streamproof.prove.services.own_places import OwnPlaces
from streamproof.prove.subjects.pyspark import asked_services
from streamproof.prove.subjects.pyspark.events import Given, Offered, write_events
from streamproof.prove.subjects.pyspark.expected import Expected
from streamproof.prove.subjects.pyspark.ignored import Ignored
from streamproof.prove.subjects.pyspark.readback import ReadBack
from streamproof.prove.subjects.pyspark.subject import PysparkSubject
from streamproof.prove.subjects.pyspark.terms import Terms
from streamproof.prove.subjects.pyspark.told import Told, ToldInput
from streamproof.prove.subjects.subject import Preparation

PYSPARK_JOBS = (
    "pyspark.java_gateway",
    "pyspark.testing",
    "pyspark.sql.classic.dataframe",
    "pyspark.sql.functions",
    "pyspark.sql.pandas.map_ops",
    "pyspark.sql.streaming",
    "pyspark.sql.types",
    "encodings.idna",
    "pandas",
    "streamproof.checkpoint.logs",
    "streamproof.prove.subjects.pyspark.child",
    "streamproof.prove.subjects.pyspark.delta_log",
    "streamproof.prove.subjects.pyspark.reference",
    "streamproof.prove.subjects.pyspark.stateful",
    "streamproof.prove.subjects.pyspark.redirect",
    "streamproof.runtime.binding.loading",
)
"""What the driver of a job needs that was not written for us."""

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
    arguments, words, environment, modes, tables, conf, services
        As in `Told`.
    readers
        "NAME=module:function" for what the job writes by itself.
    ignore
        "OUTPUT.COLUMN" for what differs from run to run on purpose, and is not compared.
    as_is
        Whether the sample is taken as it lies in its file.
    show_values
        Whether values of rows may stand in reports.
    expect
        What is let be: "late=9", "unbounded-state".
    schemas
        By name of an input the schema of its sample: DDL, or a file that holds DDL or Spark's JSON of a schema.
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
    services: Sequence[str] = ()
    ignore: Sequence[str] = ()
    expect: Sequence[str] = ()
    schemas: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, target: str, inputs: Mapping[str, "str | Path | SampleFile"]) -> "Wanted":
        """A job with nothing but samples, each a file or what `sp.sample` gives."""
        samples = {name: one if isinstance(one, SampleFile) else SampleFile(str(one)) for name, one in inputs.items()}
        return cls(
            target,
            {name: one.path for name, one in samples.items()},
            schemas={name: one.schema for name, one in samples.items() if one.schema is not None},
        )


class PysparkPreparation(Preparation):
    """A PySpark job and its samples.

    Raises
    ------
    ScenarioError
        If the file, the function or a sample is not there or is not what it should be.
    """

    modules = PYSPARK_JOBS
    struck = False
    stands_on = PLAIN

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
        self.services = tuple(dict.fromkeys(wanted.services))
        self._texts = [*wanted.arguments.values(), *wanted.words, *wanted.environment.values()]
        asked_services.required(self.services, self._texts, wanted.conf)
        ignored = Ignored.parse(wanted.ignore)
        self.settings = changed_for_a_plain_job(wanted.conf)
        self._terms = Terms(not wanted.show_values, ignored, Expected.parse(wanted.expect))
        self._readers = [ReadBack.parse(text, self._file.parent) for text in wanted.readers]
        _require_inputs_of(wanted)
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
        schema = self.wanted.schemas.get(name)
        return sample if schema is None else as_declared(sample, declared_columns(name, schema))

    def make(self) -> None:
        self._events = {
            name: perturb(sample, UNPERTURBED if self.wanted.as_is else _disturbance(sample), self.seed)
            for name, sample in self._samples.items()
        }
        self.events = sum(map(len, self._events.values()))

    def subject(self, engine: Engine, folder: Path, services: Services) -> PysparkSubject:
        events = folder / "events"
        files = self.batches * FILES_PER_BATCH
        offered = {name: write_events(self._samples[name], its, events, files) for name, its in self._events.items()}
        inputs = [
            ToldInput(name, sample.format, sample.schema, self.wanted.inputs[name].startswith(_KAFKA), sample.kept)
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
            self.services,
            cuts=any(event.kind == "malformed" for its in self._events.values() for event in its),
        )
        data = {name: str(events / name) for name in offered}
        return PysparkSubject(
            self.name,
            told,
            folder,
            engine,
            Given(data, offered, FILES_PER_BATCH, self.seed),
            self._terms,
            self._readers,
            OwnPlaces(services, asked_services.topics_in(self._texts)) if self.services else None,
        )


def _disturbance(sample: Sample) -> Perturbation:
    """As a sample is disturbed by default; of one with broken lines as large a share is cut."""
    usual = Perturbation()
    return replace(usual, malformed=0 if sample.written.whole_lines else max(usual.malformed, sample.broken_share))


def _require_inputs_of(wanted: Wanted) -> None:
    """ScenarioError if a schema is given for what is no input, or gets Kafka's columns."""
    for name in wanted.schemas:
        if name not in wanted.inputs:
            raise ScenarioError(
                f"--schema {name} is given, and there is no input {name}.{did_you_mean(name, list(wanted.inputs))}",
                required=f"The inputs are {', '.join(wanted.inputs)}.",
                remedy=f"streamproof prove {wanted.target} --input {name}=FILE",
            )
        if wanted.inputs[name].startswith(_KAFKA):
            raise ScenarioError(
                f"--schema {name} is given, and the input {name} has Kafka's columns: key, value, topic, partition, offset, timestamp.",
                required="Their types are Kafka's own; what stands in value has a type where the job says from_json.",
                remedy=f"Leave --schema {name} out.",
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
