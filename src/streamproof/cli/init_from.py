"""`streamproof init DIR --from SAMPLE`: a job, its configuration and a scenario that fit records of the user's own."""

import keyword
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from streamproof.core.clock import from_micros
from streamproof.core.durations import format_duration, micros_of
from streamproof.doctor.skew.chunks import Chunk
from streamproof.doctor.skew.measure import Measure
from streamproof.doctor.skew.skew import Judging
from streamproof.errors import ConfigurationError
from streamproof.prove.scenario.described import Described, described, texts_of, toml, toml_key, written_to_parquet
from streamproof.prove.scenario.perturb import UNPERTURBED, perturb
from streamproof.prove.scenario.sample import Sample, read_sample
from streamproof.prove.scenario.sample_as_json import as_json
from streamproof.prove.scenario.sample_files import write_sample_files
from streamproof.prove.scenario.sample_types import date_in

TEMPLATES = Path(__file__).parent / "sample_templates"
_FILES = 4
_DAY = timedelta(days=1)
_SIZES = tuple(timedelta(seconds=seconds) for seconds in (1, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400))
_SECOND = timedelta(seconds=1)
_LOSE = 0.001
"""As `streamproof lag` says it unless it is asked otherwise."""
_LEAST_LAG, _LONGEST_LAG = timedelta(milliseconds=1), timedelta(days=365)
_WINDOWS_IN_SAMPLE = 20
_DELAYS_IN_SPAN = 6
_FAR = 200
"""One in so many event times may lie far away from the others, on either side."""
_LEAST_SHARE, _LEAST_COPIES, _MOST_SHARE = 0.002, 0.02, 0.2
_REJECTED = ("malformed", "missing_time", "unparseable_time")
_MOST_GROUPS = 100
_ID_TYPES = ("string", "int", "long")
_NUMBERS = ("tinyint", "smallint", "int", "long", "float", "double")
_TAKEN = {"sp", "F", "once", "checked", "totals", "accepted", "late", "rejected", "events"}
"""Names that stand in job.py already."""


@dataclass(frozen=True)
class Fitted:
    """What the templates are filled with: the sample as its data is kept, and what its columns are good for.

    Parameters
    ----------
    source
        The name of the stream, after the file.
    required
        A column that must not be null.
    group, amount
        What windows are made by, and what they add up; None where no column is fit for it.
    delay, window
        How far the records are out of order, and a size of windows that fits the time that they cover.
    notes
        What a person should know of how the sample was taken.
    """

    sample: Sample
    source: str
    required: str | None
    id_column: str | None
    group: str | None
    amount: str | None
    delay: timedelta
    window: timedelta
    columns: list[Described]
    notes: tuple[str, ...]

    @property
    def windowed(self) -> bool:
        return self.sample.time_column is not None

    @property
    def job(self) -> str:
        return f"{self.source}_{self.output}"

    @property
    def output(self) -> str:
        return "totals" if self.windowed else "accepted"

    @property
    def total(self) -> str | None:
        return None if self.amount is None else _free(self.amount, self.group)

    @property
    def counted(self) -> str:
        return _free("records", self.group, self.total)

    @property
    def rejects(self) -> bool:
        """Whether some record of a proof is rejected."""
        return self.windowed or self.required is not None or self.sample.format == "json"


def fitted(file: Path) -> Fitted:
    """What a job on the records of the file can be.

    Raises
    ------
    ScenarioError
        If it is no sample.
    """
    read = read_sample(_source_name(file), file, forgiving=True)
    sample, notes = _kept(read)
    if sample.time_column is not None and not _can_be_named(sample.time_column):
        notes = (*notes, f"The event time {sample.time_column} cannot be used by its name: the job has no windows.")
        sample = _without_time(sample)
    usable = [name for name in sample.columns if _can_be_named(name) and name != sample.time_column]
    id_column = sample.id_column if sample.id_column in usable and sample.columns[sample.id_column] in _ID_TYPES else None
    required = id_column or next((name for name in usable if sample.columns[name] == "string"), None)
    windowed = sample.time_column is not None
    delay, window = _delay(sample), _window(sample)
    others = [name for name in usable if name != id_column]
    return Fitted(
        sample,
        sample.name,
        required,
        id_column if windowed else None,
        next((name for name in others if _groups(sample, name)), None) if windowed else None,
        next((name for name in others if _adds_up(sample, name)), None) if windowed else None,
        delay,
        window,
        described(sample, id_column=id_column),
        notes,
    )


def write_fitted(directory: Path, fit: Fitted) -> None:
    """Write the files of the job, and the records of the sample below data/, into a folder that is there."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 -- what is written is no HTML
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    known: dict[str, Any] = {
        "fit": fit,
        "sample": fit.sample,
        "toml": toml,
        "toml_key": toml_key,
        "words": format_duration,
        "scenario": _scenario(fit),
        "file": fit.sample.path.name,
    }
    files = min(_FILES, len(fit.sample.records))
    try:
        for template in sorted(TEMPLATES.glob("*.j2")):
            text = environment.get_template(template.name).render(known)
            (directory / template.name.removesuffix(".j2")).write_text(text, encoding="utf-8")
        write_sample_files(perturb(fit.sample, UNPERTURBED, 0), fit.sample, directory / "data" / fit.source, files=files)
    except OSError as problem:
        raise ConfigurationError(f"{directory} cannot be written: {problem.strerror}.") from None


def _kept(sample: Sample) -> tuple[Sample, tuple[str, ...]]:
    """The sample in a format that the source `files` reads, and what is said of it."""
    if sample.format == "json" or (sample.format == "parquet" and written_to_parquet(sample)):
        return sample, sample.notes
    reason = {
        "csv": "A job that is made from a sample of CSV reads JSON",
        "text": "A job that is made from plain lines reads JSON",
        "avro": "A job that is made from a sample of Avro reads JSON",
        "parquet": "The generator of proofs does not write all of its columns to Parquet",
    }[sample.format]
    return as_json(sample), (*sample.notes, f"{reason}: its records lie in data/ as JSON.")


def _without_time(sample: Sample) -> Sample:
    return replace(sample, time=None)


def _source_name(file: Path) -> str:
    """A name for Python and TOML, after the file: "trades" of "trades.sample.jsonl"."""
    found = re.sub(r"\W+", "_", file.name.partition(".")[0], flags=re.ASCII).strip("_").lower()
    if not found or found[0].isdigit():
        found = f"events_{found}".rstrip("_")
    return f"{found}_events" if found in _TAKEN or keyword.iskeyword(found) else found


def _can_be_named(name: str) -> bool:
    """Whether the name stands in Python and SQL without quotes, and is none of the columns that windows make."""
    plain = name.isascii() and name.isidentifier() and not name.startswith("_") and not keyword.iskeyword(name)
    return plain and name.lower() not in ("window_start", "window_end")


def _free(name: str, *taken: str | None) -> str:
    return f"{name}_total" if name in taken else name


def _groups(sample: Sample, name: str) -> bool:
    """Whether the column has few texts, each of them several times."""
    if sample.columns[name] != "string":
        return False
    texts = texts_of(sample, name)
    return 2 <= len(texts) <= _MOST_GROUPS and 2 * len(texts) <= len(sample.records)


def _adds_up(sample: Sample, name: str) -> bool:
    type_ = sample.columns[name]
    return (type_ in _NUMBERS or type_.startswith("decimal")) and not re.search(r"(?:^|_)id$|Id$", name)


def _delay(sample: Sample) -> timedelta:
    """The delay that `streamproof lag` recommends for the records."""
    instants = [instant for instant in sample.instants() if instant is not None]
    measure = Measure({}, Judging(max_future_us=micros_of(_DAY)))
    measure.add(Chunk(np.array(instants, dtype=np.int64)))
    try:
        chosen = measure.finished(lose=_LOSE).delays.chosen
    except ConfigurationError:  # fewer than two records have a time
        return _LEAST_LAG
    return _LONGEST_LAG if chosen is None else timedelta(microseconds=chosen.delay_us)


def _window(sample: Sample) -> timedelta:
    span = micros_of(_span(sample))
    fits = [size for size in _SIZES if micros_of(size) * _WINDOWS_IN_SAMPLE <= span]
    size = fits[-1] if fits else _SIZES[0]
    return max(size, _DAY) if _says_days(sample) else size


def _span(sample: Sample) -> timedelta:
    """The event time that the records cover; single ones far away from all others do not count."""
    instants = sorted(instant for instant in sample.instants() if instant is not None)
    if not instants:
        return timedelta(0)
    far = len(instants) // _FAR
    return timedelta(microseconds=instants[-1 - far] - instants[far])


def _says_days(sample: Sample) -> bool:
    """Whether the event time is a day, without a time of day."""
    if sample.time_column is None:
        return False
    if sample.columns[sample.time_column] == "date":
        return True
    first = next((value for record in sample.records if (value := record.values[sample.time_column]) is not None), None)
    return isinstance(first, str) and date_in(first) is not None


def _scenario(fit: Fitted) -> dict[str, Any]:
    """What a proof makes: the span and the delay of the sample, as large a share of broken records, and some that come too late.

    The span is longer where four batches could not close a window otherwise.
    """
    instants = sorted(instant for instant in fit.sample.instants() if instant is not None)
    start = from_micros(instants[len(instants) // _FAR] // 1_000_000 * 1_000_000) if instants else None
    needed = max(_WINDOWS_IN_SAMPLE * fit.window, _DELAYS_IN_SPAN * fit.delay)
    span = max(timedelta(seconds=-(-_span(fit.sample) // _SECOND)), needed)
    late = fit.delay + 4 * fit.window + _whole_seconds(span / 4)
    shares = _shares(fit)
    return {
        "start": None if start is None else start.isoformat().replace("+00:00", "Z"),
        "span": span,
        "longer": span > _span(fit.sample) + _SECOND,
        "typical": fit.delay / 5,
        "delayed_by": (late, late + _whole_seconds(span / 8)),
        "within": fit.delay + fit.window,
        "by_event_time": not _says_days(fit.sample),
        "shares": shares,
        "rejected_at_most": max(0.02, round(1.5 * sum(shares[name] for name in _REJECTED) + 0.01, 3)),
    }


def _shares(fit: Fitted) -> dict[str, float]:
    """What is wrong with the records of the sample, as shares of all; at least as much as makes a few in a thousand."""
    sample = fit.sample
    instants, count = sample.instants(), len(sample.records)
    written = [sample.time_column is not None and record.values.get(sample.time_column) is not None for record in sample.records]
    missing = sum(not there for there in written)
    unparseable = sum(there and instant is None for there, instant in zip(written, instants, strict=True))
    ids = [] if fit.id_column is None else [record.values[fit.id_column] for record in sample.records]
    return {
        "malformed": _share(sample.broken_share, _LEAST_SHARE),
        "missing_time": _share(missing / count, _LEAST_SHARE),
        "unparseable_time": _share(unparseable / count, 0.0),
        "duplicates": _share(1 - len(set(ids)) / len(ids) if ids else 0.0, _LEAST_COPIES),
    }


def _share(found: float, least: float) -> float:
    return min(_MOST_SHARE, max(least, round(found, 3)))


def _whole_seconds(duration: timedelta) -> timedelta:
    return max(_SECOND, timedelta(seconds=duration // _SECOND))
