"""Settings of Spark of a plain job: in a proof it has those that it has in production, but for the few that a proof cannot do without."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from streamproof.core.notes import Note, NoteCode
from streamproof.prove.process.spark_settings import GIVEN, MAINTENANCE, PARTITIONS, SQL, kept_of, left_out_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_PARTITIONS = 2


def as_in_production(spark: "SparkSession", conf: Mapping[str, str]) -> list[Note]:
    """Gives a session the settings that the user has given, and takes back those of an earlier proof in this JVM.

    The list says which of the user's the proof runs with another value.
    """
    wanted = {key: value for key, value in kept_of(conf).items() if key.startswith(SQL)}
    earlier = spark.sparkContext.getConf().get(GIVEN, "") or ""
    for key in filter(None, earlier.split(",")):
        if key not in wanted:
            _unless_static(spark.conf.unset, key)
    for key, value in wanted.items():
        _unless_static(spark.conf.set, key, value)
    return [_left_out(f"The proof was given {said}") for said in left_out_of(conf)]


def _unless_static(change: Callable[..., Any], *arguments: str) -> None:
    """A static setting is that of the JVM: it was started with it, or cannot have it any more."""
    try:
        change(*arguments)
    except AnalysisException:
        return


def kept_small(real: Any, notes: list[Note], of_the_proof: Mapping[str, str]) -> Any:
    """`spark.conf.set` of a job in a proof: it takes all but what would make crash points impossible to enumerate.

    Parameters
    ----------
    of_the_proof
        Settings that the proof gives this one run, and that the job does not take back.
    """

    def left_out(key: str, value: Any, why: str) -> None:
        note = _left_out(f"The job asks for {key} = {value}; a proof {why}.")
        if note not in notes:
            notes.append(note)

    def keep(self: Any, key: str, value: Any) -> None:
        if key in of_the_proof:
            return
        if key == MAINTENANCE:
            left_out(key, value, "has the maintenance of state stores wait, so that its crash points can be told")
            return
        if key == PARTITIONS and int(value) > MOST_PARTITIONS:
            left_out(key, value, f"runs it with {MOST_PARTITIONS}, so that every crash point can be tried")
            value = MOST_PARTITIONS
        real(self, key, value)

    return keep


def _left_out(said: str) -> Note:
    return Note(NoteCode.SETTING_LEFT_OUT, said)
