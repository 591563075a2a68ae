"""Which subject a target names: a job of ours with its configuration, or plain PySpark with samples of its input."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamproof.config.entry import is_plain_pyspark
from streamproof.errors import ScenarioError
from streamproof.prove.options import Amount
from streamproof.prove.subjects.pyspark.preparation import PysparkPreparation, Wanted
from streamproof.prove.subjects.subject import Preparation
from streamproof.runtime.spark.environment import find_spark, find_spark_of_plain_jobs


@dataclass(frozen=True)
class Named:
    """A target made ready: what prepares it, the folder that its runs are stored in, and what a replay says beside."""

    preparation: Preparation
    root: Path
    words: tuple[str, ...] = ()


def named(target: str, wanted: Wanted | None, amount: Amount, *, profile: str | None) -> Named:
    """The subject of a target.

    Raises
    ------
    StreamproofError
        If there is none.
    """
    if wanted is not None or is_plain_pyspark(target):
        find_spark_of_plain_jobs()
        asked = wanted or Wanted(target, {})
        if amount.exactly is not None:
            raise ScenarioError(
                f"{target} is plain PySpark, and its events are written out one by one.",
                required="--exactly is for jobs that were written with Streamproof.",
                remedy="Give such a job a sample with these events: --input NAME=FILE",
            )
        preparation = PysparkPreparation(asked, seed=amount.seed, events=amount.events, batches=amount.batches)
        return Named(preparation, Path.cwd(), words_of(asked))
    from streamproof.config import load
    from streamproof.prove.subjects.job.preparation import JobPreparation

    config = load(target, profile=profile)
    find_spark()
    made = JobPreparation.of(config, seed=amount.seed, events=amount.events, batches=amount.batches)
    return Named(made if amount.exactly is None else made.exactly(amount.exactly), config.root)


def words_of(wanted: Wanted) -> tuple[str, ...]:
    """What a command says of a PySpark job, after its target."""

    def pairs(option: str, given: Mapping[str, str]) -> list[str]:
        return [word for name, value in given.items() for word in (option, f"{name}={value}")]

    return (
        *pairs("--input", wanted.inputs),
        *pairs("--schema", wanted.schemas),
        *pairs("--table", wanted.tables),
        *pairs("--set", wanted.arguments),
        *pairs("--env", wanted.environment),
        *pairs("--conf", wanted.conf),
        *pairs("--mode", wanted.modes),
        *(word for one in wanted.words for word in ("--argument", one)),
        *(word for one in wanted.readers for word in ("--read", one)),
        *(word for one in wanted.ignore for word in ("--ignore", one)),
        *(word for one in wanted.services for word in ("--service", one)),
        *(word for one in wanted.expect for word in ("--expect", one)),
        *(["--as-is"] if wanted.as_is else []),
        *(["--show-values"] if wanted.show_values else []),
    )
