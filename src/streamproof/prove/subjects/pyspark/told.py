"""What a child is told of a PySpark job: its file, its inputs, its arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from streamproof.prove.process.runners import RUNNER

_RUNNER = "streamproof.prove.subjects.pyspark.child"
ROWS_IN = "rows-in.json"
"""In the folder of the first run: by input how many rows its reader gives, and whether spoilt records are among them."""
QUERIES = "queries.json"
"""In a scenario's folder: the queries that the job has started, and what becomes of their rows."""
ELSEWHERE = "elsewhere"
"""In a scenario's folder: what the job writes by itself, where an argument of it says {folder}."""
FOLDER = "{folder}"


@dataclass(frozen=True)
class ToldInput:
    """An input of the job: its name, the format of its sample, the schema (Spark's DDL), and which record formats are written.

    With `kafka` the job gets Kafka's columns in any case; a reader with format("kafka") does without it. `kept` are the columns that the job
    gets, where a reader has to name more; empty where it gets all.
    """

    name: str
    format: str
    schema: str
    kafka: bool = False
    kept: Sequence[str] = ()


@dataclass(frozen=True)
class Told:
    """A PySpark job.

    Parameters
    ----------
    file, function
        "file.py" and the function in it; a script has no function.
    inputs
        What it reads as streams.
    arguments
        By parameter of the function what it gets; `{folder}` in it is a folder of the scenario's own, `{postgres}` a database (`own_places`).
    words
        What a script finds in `sys.argv`, after its name.
    environment
        Variables that it finds; `{folder}` as in arguments.
    modes
        By output of a function its output mode, where the user says one.
    tables
        By parameter the file of a table that stays as it is.
    conf
        Settings of Spark that a session begins with: jars of a connector, extensions, catalogs.
    services
        Services that are started for the proof; each scenario has places of its own there.
    cuts
        Whether there are lines among its events that the proof has cut.
    roles
        What the queries are called in the first run of the proof, in their order; empty in that run.
    """

    file: str
    function: str = ""
    inputs: Sequence[ToldInput] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    words: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)
    services: Sequence[str] = ()
    cuts: bool = False
    roles: Sequence[str] = ()

    @property
    def keeps_elsewhere(self) -> bool:
        """Whether it is given a folder or a service of its own, and so may keep something there."""
        return bool(self.services) or any(FOLDER in value for value in self.texts)

    @property
    def texts(self) -> list[str]:
        """All that may have words in braces."""
        return [*self.arguments.values(), *self.words, *self.environment.values()]

    def as_dict(self) -> dict[str, Any]:
        return {RUNNER: _RUNNER, **asdict(self)}

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "Told":
        own = {key: value for key, value in found.items() if key != RUNNER}
        return cls(**{**own, "inputs": [ToldInput(**one) for one in own["inputs"]]})


def placed(values: Mapping[str, str], folder: Path, words: Mapping[str, str]) -> dict[str, str]:
    """The values, with a scenario's own folder in the place of `{folder}`, and its places in services in that of their words."""
    return {name: placed_text(value, folder, words) for name, value in values.items()}


def placed_text(text: str, folder: Path, words: Mapping[str, str]) -> str:
    """The same of one text."""
    for word, value in words.items():
        text = text.replace(f"{{{word}}}", value)
    return text.replace(FOLDER, str(folder))


@dataclass(frozen=True)
class Query:
    """A query that the job has started.

    Parameters
    ----------
    name
        Of the query and of its output.
    mode
        "append", "update" or "complete".
    rows
        Where its rows are: "batches" (kept by a sink of the proof's, batch by batch), "files" (Spark's file sink), "function" (the job's own
        function writes them).
    format
        Of the files.
    was
        The sink that the job asked for, in its words: "kafka", "console", "parquet".
    dropped
        How many rows Spark says that it dropped as late.
    wrote
        Of a query whose rows its own function writes: the outputs that the function has written by bound writers.
    checkpoint
        The folder of its checkpoint in the scenario.
    """

    name: str
    mode: str
    rows: str
    format: str
    was: str
    dropped: int = 0
    wrote: Sequence[str] = ()
    checkpoint: str = ""
