"""From a target to what there is to look at: configuration, steps, text, checkpoints, what the sources hold."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.checkpoint.folder import checkpoint_at, is_checkpoint, list_names
from streamproof.checkpoint.inspection import Inspection, inspect_checkpoint
from streamproof.config import JobConfig, load, redact
from streamproof.config.entry import is_plain_pyspark
from streamproof.config.load import FILE_NAME
from streamproof.config.places import is_remote
from streamproof.config.sinks import CUSTOM_SINK
from streamproof.core.paths import display
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.checkpoints import mentioned
from streamproof.doctor.text.flows import has_streams
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import name_of
from streamproof.errors import StreamproofError
from streamproof.runtime.checks.rehearsal import Steps, rehearsing

if TYPE_CHECKING:
    from streamproof.connectors.source import Holding

_PLAIN = "it is a plain PySpark job, which has none"
_UNNAMED = "the text names no folder of this machine; --checkpoint DIR does"
_ONLY_CHECKPOINT = "the target is a checkpoint"


@dataclass(frozen=True)
class Asked:
    """What the user says beside the target.

    Parameters
    ----------
    checkpoint
        The folder of a checkpoint; without it that which the job names.
    services
        Whether sources on services are asked what they hold.
    outage
        How long the job must be able to stand still.
    """

    profile: str | None = None
    checkpoint: Path | None = None
    services: bool = False
    outage: timedelta = timedelta(days=1)


def gather(target: str, asked: Asked) -> Patient:
    """What there is to look at.

    Parameters
    ----------
    target
        What `run`, `check` and `prove` take, a plain PySpark job "file.py[:function]", or the folder of a checkpoint.

    Raises
    ------
    ConfigurationError
        If the target is none of these, or its configuration is wrong.
    """
    if is_plain_pyspark(target):
        return _of_text(target, asked)
    folder = Path(target)
    if folder.is_dir() and not (folder / FILE_NAME).is_file() and _has_checkpoint(folder):
        return _of_checkpoint(folder, asked)
    return _of_job(target, asked)


def _has_checkpoint(folder: Path) -> bool:
    return is_checkpoint(folder) or any(is_checkpoint(folder / name) for name in list_names(folder))


def _of_checkpoint(folder: Path, asked: Asked) -> Patient:
    places = [folder] if is_checkpoint(folder) else [folder / name for name in list_names(folder) if is_checkpoint(folder / name)]
    missing = dict.fromkeys(Part, _ONLY_CHECKPOINT)
    del missing[Part.CHECKPOINT]
    return Patient(str(folder), checkpoints=[inspect_checkpoint(place) for place in places], outage=asked.outage, missing=missing)


def _of_text(target: str, asked: Asked) -> Patient:
    file, _, function = target.rpartition(":") if ":" in target else (target, "", "")
    program = Program.of(Path(file), function)
    programs = [program] if function else _without_entry(program)
    missing = dict.fromkeys((Part.CONFIGURATION, Part.STEPS, Part.FOLDERS, Part.SERVICES), _PLAIN)
    if not any(has_streams(one) for one in programs):
        where = display(program.path)
        missing[Part.TEXT] = (
            f"nothing in {where} starts or returns a stream; name the file or the function that does, {where}:FUNCTION"
        )
    patient = Patient(target, programs=programs, outage=asked.outage, missing=missing)
    named = [asked.checkpoint] if asked.checkpoint is not None else [Path(text) for text in _local(program)]
    return _with_checkpoints(patient, named, f"there is none at {', '.join(map(str, named))}" if named else _UNNAMED)


def _without_entry(program: Program) -> list[Program]:
    """A script as a whole; of a file that starts no query each function that makes a DataFrame of DataFrames, and that no other one calls."""
    if any(isinstance(node, ast.Attribute) and node.attr == "writeStream" for node in ast.walk(program.tree)):
        return [program]
    used = {node.id for node in ast.walk(program.tree) if isinstance(node, ast.Name)}
    makers = [
        node.name
        for node in program.tree.body
        if isinstance(node, ast.FunctionDef)
        and node.name not in used
        and any(_is_frame(one.annotation) for one in node.args.args)
        and _is_frame(node.returns)
    ]
    return [Program(program.path, name, program.tree) for name in makers] or [program]


def _is_frame(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(name_of(node) == "DataFrame" for node in ast.walk(annotation))


def _local(program: Program) -> Iterator[str]:
    """The checkpoints that the text names, as far as it names folders of this machine."""
    for mention in mentioned(program):
        if mention.is_whole and mention.text is not None and not is_remote(mention.text):
            yield mention.text.removeprefix("file://").removeprefix("file:")


def _of_job(target: str, asked: Asked) -> Patient:
    with rehearsing(target, asked.profile) as rehearsed:  # beside the rest: PySpark is to be imported for it
        config = load(target, profile=asked.profile)
        programs = list(_programs(config))
        holdings, unasked = _holdings(config, services=asked.services)
        found = rehearsed()
    missing: dict[Part, str] = {}
    if not found.steps:
        why = found.not_called or (found.problem.splitlines() or ["it gives no steps"])[0]
        missing[Part.STEPS] = redact(f"the job could not be called without Spark ({why}); streamproof check says more")
    if unasked:
        missing[Part.SERVICES] = unasked
    patient = Patient(target, config, found.steps, programs, (), holdings, outage=asked.outage, missing=missing)
    if asked.checkpoint is not None:
        return _with_checkpoints(patient, [asked.checkpoint], f"there is none at {asked.checkpoint}")
    return _with_checkpoints(patient, _places(config, found.steps), _none_at(config))


def _programs(config: JobConfig) -> Iterator[Program]:
    """The file of the job, and those of its own sinks."""
    yield Program.of(config.entry_file, config.name)
    for sink in config.sink.values():
        if custom := CUSTOM_SINK.fullmatch(sink.connector):
            yield Program.of(config.root / custom["file"], custom["name"])


def _places(config: JobConfig, steps: Sequence[Steps]) -> list[Path]:
    if config.is_remote(config.checkpoint):
        return []
    folder = Path(config.resolve(config.checkpoint))
    names = [query.query for query in steps] or list_names(folder)
    return [folder / name for name in names]


def _none_at(config: JobConfig) -> str:
    if config.is_remote(config.checkpoint):
        return f"{config.checkpoint} is in a store; copy it, and name the copy: --checkpoint DIR"
    return f"there is none at {config.checkpoint}"


def _with_checkpoints(patient: Patient, places: Sequence[Path], why_not: str) -> Patient:
    """The same with the checkpoints that are there; without one, why not."""
    found: list[Inspection] = []
    problem = ""
    for place in places:
        try:
            if place.is_dir():
                found.append(inspect_checkpoint(checkpoint_at(place)))
        except StreamproofError as why:
            problem = redact(why.message)
    found = [one for one in found if one.batches]
    if found:
        return replace(patient, checkpoints=found)
    return replace(patient, missing={**patient.missing, Part.CHECKPOINT: problem or why_not})


def _holdings(config: JobConfig, *, services: bool) -> "tuple[Mapping[str, Sequence[Holding]], str]":
    """By source what it holds now, and in words why services were not asked, or did not answer."""
    from streamproof.connectors.sources import source_of

    found: dict[str, Sequence[Holding]] = {}
    why = ""
    for name, table in config.source.items():
        if table.services and not services:
            why = f"{name} is on one, and it was not asked: --services does so"
            continue
        try:
            found[name] = source_of(name, table, config.resolve).holding()
        except StreamproofError as problem:
            why = redact(problem.message)
    return found, why


def shown_target(patient: Patient) -> str:
    """What was looked at, as a person would call it."""
    return patient.target if patient.config is None else f"{display(patient.config.file)} ({patient.config.name})"
