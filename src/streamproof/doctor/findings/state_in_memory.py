"""A state store in memory: all state of an executor lies in its heap."""

from collections.abc import Iterator

from streamproof.checkpoint.inspection import STORES
from streamproof.doctor.finding import Code, Place, Severity, Symptom
from streamproof.doctor.findings.unbounded_state import STATEFUL
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.state_sizes import sizes_of
from streamproof.doctor.text.flows import Call, flows_of
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.streams import surely_streams
from streamproof.doctor.text.syntax import argument

_IN_MEMORY = "HDFSBackedStateStoreProvider"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
MANY_BYTES, MANY_ROWS = 100_000_000, 1_000_000
"""From so much on a start reads for long, and collections of garbage are felt."""
_REMEDY = f"{STORES} = {ROCKSDB}, for a new checkpoint: an old one goes on with the store that it was made with."


def _by_checkpoint(patient: Patient) -> Iterator[Symptom]:
    for checkpoint in patient.checkpoints:
        if not checkpoint.settings.get(STORES, "").endswith(_IN_MEMORY):
            continue
        sizes = list(sizes_of(checkpoint))
        total, rows = sum(sum(one.bytes) for one in sizes), sum(sum(one.rows or ()) for one in sizes)
        if sizes:
            much = total >= MANY_BYTES or rows >= MANY_ROWS
            yield Symptom(
                Severity.WARN if much else Severity.NOTE,
                "The state store keeps all state in the memory of the executors.",
                Place(checkpoint.path),
                _REMEDY,
                f"the checkpoint is made with {_IN_MEMORY}; its state has {total / 1e6:,.1f} MB on disk",
            )


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    store = patient.bound.spark.get(STORES, "")
    if store.endswith(_IN_MEMORY):
        what = "The state store keeps all state in the memory of the executors."
        yield Symptom(
            Severity.WARN, what, patient.key("spark", STORES), f"Take it out: RocksDB is the default here. {_REMEDY}", store
        )


def _by_text(patient: Patient) -> Iterator[Symptom]:
    store = patient.settings.get(STORES, _IN_MEMORY)
    if not store.endswith(_IN_MEMORY) or patient.config is not None:
        return
    for program in patient.programs:
        for flow in flows_of(program):
            keeps = [call for call in flow.of(*STATEFUL) if _keeps_state(program, call)]
            if keeps:
                yield Symptom(
                    Severity.NOTE,
                    "Spark's default state store keeps all state in the memory of the executors.",
                    program.place(keeps[0].node),
                    _REMEDY,
                    f"{keeps[0].name}() keeps state, and the text sets no {STORES}",
                )
                return


def _keeps_state(program: Program, call: Call) -> bool:
    """Whether a call keeps state: it is of a stream, and a join is with another one."""
    other = argument(call.node, 0, "other") if call.name == "join" else None
    return surely_streams(program, call.on) and (call.name != "join" or (other is not None and surely_streams(program, other)))


STATE_IN_MEMORY = Mistake(
    Code.STATE_IN_MEMORY,
    "a state store in memory",
    "State in the heap makes pauses for garbage collection that grow with it, until executors are taken for dead. RocksDB keeps it on disk.",
    (Way((Part.CHECKPOINT,), _by_checkpoint), Way((Part.CONFIGURATION,), _by_configuration), Way((Part.TEXT,), _by_text)),
)
