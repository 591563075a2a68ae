"""Too few partitions, or too many: for the cores, or for the state."""

import re
from collections.abc import Iterator

from streamproof.checkpoint.inspection import PARTITIONS as SETTING
from streamproof.doctor.finding import Code, Place, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.state_sizes import sizes_of
from streamproof.doctor.text.settings import place_of_setting

MOST_ROWS, MOST_BYTES = 5_000_000, 2_000_000_000
"""More in one partition is read for minutes when its task begins on another machine."""
_MANY, _FEW_ROWS = 100, 10
_TIMES_CORES = 20
_LOCAL = re.compile(r"local\[(\d+)(?:,.*)?\]")


def cores_of(patient: Patient) -> int | None:
    """How many tasks run at a time, as far as the settings say it."""
    settings = patient.settings
    local = _LOCAL.fullmatch(settings.get("spark.master", ""))
    if local is not None:
        return int(local[1])
    each, executors = settings.get("spark.executor.cores", ""), settings.get("spark.executor.instances", "")
    return int(each) * int(executors) if each.isdigit() and executors.isdigit() else None


def _place(patient: Patient) -> Place:
    if patient.config is not None:
        return patient.key("spark", SETTING)
    return place_of_setting(patient.programs[0], SETTING)


def _by_settings(patient: Patient) -> Iterator[Symptom]:
    said, cores = patient.settings.get(SETTING, ""), cores_of(patient)
    if not said.isdigit() or cores is None:
        return
    partitions, evidence = int(said), f"{SETTING} = {said}, and {cores} cores"
    if partitions < cores:
        yield Symptom(
            Severity.WARN,
            f"{partitions} partitions of state keep {partitions} cores busy at most; {cores - partitions} do nothing.",
            _place(patient),
            f"{SETTING} = {cores} to {3 * cores}, before the first batch: the checkpoint fixes it.",
            evidence,
        )
    elif partitions > _TIMES_CORES * cores:
        yield Symptom(
            Severity.NOTE,
            f"{partitions} partitions of state are {partitions // cores} tasks after each other on every core, in each batch.",
            _place(patient),
            f"{SETTING} = {cores} to {3 * cores}, before the first batch: the checkpoint fixes it.",
            evidence,
        )


def _by_checkpoint(patient: Patient) -> Iterator[Symptom]:
    for checkpoint in patient.checkpoints:
        for size in sizes_of(checkpoint):
            count, rows = len(size.bytes), size.rows
            name = f"operator {size.operator.number}"
            if max(size.bytes) >= MOST_BYTES or (rows is not None and max(rows) >= MOST_ROWS):
                held = f"{max(rows):,} rows" if rows is not None else f"{max(size.bytes) / 1e9:,.1f} GB"
                yield Symptom(
                    Severity.WARN,
                    f"A partition of the state has {held}: too few partitions.",
                    Place(checkpoint.path),
                    f"A new checkpoint with a larger {SETTING}; it is fixed by the first batch.",
                    f"{name} has {count} partitions",
                )
            elif count >= _MANY and rows is not None and sum(rows) < _FEW_ROWS * count:
                yield Symptom(
                    Severity.NOTE,
                    f"{count} partitions hold {sum(rows):,} rows: each batch starts {count} tasks for them.",
                    Place(checkpoint.path),
                    f"A new checkpoint with a smaller {SETTING}; it is fixed by the first batch.",
                    f"{name} has {count} partitions",
                )


def _by_holdings(patient: Patient) -> Iterator[Symptom]:
    cores = cores_of(patient)
    for source, held in patient.holdings.items():
        for one in held:
            if cores is not None and 0 < one.partitions < cores:
                yield Symptom(
                    Severity.NOTE,
                    f"The topic {one.name} has {one.partitions} partitions, and so many tasks read it; there are {cores} cores.",
                    patient.key("source", source),
                    "More partitions of the topic; or nothing, where reading is quick and the rows are dealt out afterwards.",
                    f"{one.partitions} partitions, {cores} cores",
                )


PARTITIONS = Mistake(
    Code.PARTITIONS,
    "too many or too few partitions",
    "With too few, cores stand idle and each partition is large. With too many, a batch is made of tasks that take longer to start than to run.",
    (
        Way((Part.CONFIGURATION,), _by_settings),
        Way((Part.TEXT,), lambda patient: () if patient.config is not None else _by_settings(patient)),
        Way((Part.CHECKPOINT,), _by_checkpoint),
        Way((Part.CONFIGURATION, Part.SERVICES), _by_holdings),
    ),
)
