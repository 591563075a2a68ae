"""Files that pile up: a folder with very many of them, in front of the job or behind it."""

from collections.abc import Iterator
from pathlib import Path

from streamproof.checkpoint.inspection import files_in
from streamproof.core.folders import files_below
from streamproof.doctor.finding import Code, Place, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient

MANY, SMALL_BYTES = 10_000, 1_000_000


def _by_holdings(patient: Patient) -> Iterator[Symptom]:
    for source, held in patient.holdings.items():
        for one in held:
            if one.files >= MANY:
                yield Symptom(
                    Severity.WARN,
                    f"The folder of {source} has {one.files:,} files, and every batch lists all of them.",
                    patient.key("source", source, "path"),
                    "Move files away that were read long ago, by their age; a job that is behind still needs them.",
                    f"{one.files:,} files, {one.bytes / one.files / 1000:,.0f} kB each",
                )


def _by_outputs(patient: Patient) -> Iterator[Symptom]:
    for name, sink in patient.bound.sink.items():
        place = sink.folder
        if place is None or patient.bound.is_remote(place.path):
            continue
        folder = Path(patient.bound.resolve(place.path).removeprefix("file:"))
        files, size = files_below(folder) if folder.is_dir() else (0, 0)
        if files >= MANY and size / files < SMALL_BYTES:
            yield Symptom(
                Severity.WARN,
                f"The output {name} is made of {files:,} small files: whoever reads it opens all of them.",
                patient.key("sink", name, "path"),
                "Fewer, larger batches (a longer trigger), fewer partitions; or put old batches together by a job of their own.",
                f"{files:,} files, {size / files / 1000:,.0f} kB each",
            )


def _by_checkpoint(patient: Patient) -> Iterator[Symptom]:
    for checkpoint in patient.checkpoints:
        for source in checkpoint.logs.files:
            files = files_in(checkpoint.logs, source)
            if files >= MANY:
                yield Symptom(
                    Severity.NOTE,
                    f"Source {source} has read {files:,} files: its log names all of them, and is written anew every tenth batch.",
                    Place(checkpoint.path),
                    "Larger files; or a topic, where they come ever faster.",
                    f"sources/{source} names {files:,} files",
                )


SMALL_FILES = Mistake(
    Code.SMALL_FILES,
    "files that pile up",
    "Listing and opening files costs more than reading them. A batch gets slower from week to week, though no more rows come.",
    (
        Way((Part.CONFIGURATION, Part.FOLDERS), _by_holdings),
        Way((Part.CONFIGURATION,), _by_outputs),
        Way((Part.CHECKPOINT,), _by_checkpoint),
    ),
)
