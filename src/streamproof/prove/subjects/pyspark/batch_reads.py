"""Batch readers of a job that look at the folder of an input, mostly for its schema: `spark.read.json(path).schema`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from streamproof.core.paths import as_pattern
from streamproof.errors import ScenarioError
from streamproof.prove.subjects.pyspark.ending import in_the_job
from streamproof.prove.subjects.pyspark.told import ToldInput

_LINES = ("json", "csv", "text")
_OF_FILES = set("*?[{=")
"""What a part of a path has that names files within a folder: a pattern, a partition."""


class BatchReads:
    """Leads a batch reader to the events of an input, where the place is that of the input.

    A place that is called like an input is. With one input so is a place that is not there at all, if a stream of the job reads it too:
    that is known at the end.
    """

    def __init__(self, inputs: Sequence[ToldInput], data: Mapping[str, str]) -> None:
        self._inputs, self._data = {one.name: one for one in inputs}, data
        self._guessed: list[str] = []

    def bound(self, place: str, source: str) -> str:
        """Where the reader finds what lies at a place: the events of an input, or the place itself."""
        name = self._meant(place)
        if name is None:
            return place
        form = self._inputs[name].format
        if source != form and not (source in _LINES and form in _LINES):
            if place in self._guessed:
                self._guessed.remove(place)
                return place
            raise ScenarioError(
                f'The job reads {place} by read.format("{source}"), and the sample of {name} is {form}.',
                required=f"A batch reader of an input gets the events as they are written: {form}.",
                remedy=f"Give a sample in {source}: --input {name}=FILE.",
            )
        return as_pattern(self._data[name])

    def require_streamed(self, streamed: Sequence[str]) -> None:
        """ScenarioError if a place that is not there was taken for the input's, and no stream of the job reads it."""
        for place in self._guessed:
            if not any(_within(place, other) or _within(other, place) for other in streamed):
                raise ScenarioError(
                    f"The job reads {place} by spark.read, and it is not there.",
                    required="A batch reader finds what is there, what the job has written, or the folder of an input.",
                    remedy="Make the place an argument of the job (--set), or give the table as a file: --table NAME=FILE.",
                )

    def _meant(self, place: str) -> str | None:
        bare = place.rpartition("://")[2].removeprefix("file:")
        parts = [part for part in bare.split("/") if not _OF_FILES & set(part)]
        last = parts[-1] if parts and parts[-1] else "".join(parts[-2:-1])
        named = [name for name in self._inputs if name in (last, Path(last).stem)]
        if Path(bare).exists():
            return None
        if len(named) == 1:
            return named[0]
        if len(self._inputs) == 1 and in_the_job():
            self._guessed.append(place)
            return next(iter(self._inputs))
        return None


def _within(place: str, other: str) -> bool:
    one, two = (text.rpartition("://")[2].rstrip("/*") for text in (place, other))
    return one == two or one.startswith(f"{two}/")
