"""Every error Streamproof raises on purpose. The exit code of `run` is the error's: 1 where a person must look, unless it says otherwise.

Programs tell errors apart by `code`, which stands in brackets and never changes; the sentences are for people and may.

StreamproofError                [error]
├── ConfigurationError          [configuration]            the configuration file, the command line or the job's definition; exit code 2
│   ├── JobDefinitionError      [job-definition]           the job function asks for something that cannot be, or not yet
│   ├── EnvironmentProblem      [environment]              Java, Spark or a permission is missing or too old
│   │   ├── TooManyOpenFiles    [too-many-open-files]      the process may open no further file
│   │   └── MachineShort        [machine]                  the machine did not let the job of a proof run to its end; exit code 3
│   ├── MissingExtra            [missing-extra]            a library that an extra installs is not there
│   └── PortTaken               [port-taken]               another program listens on the port of the metrics or the live page; exit code 75
├── DataError                   [data]                     the input cannot be read: a file vanished, is no Parquet, is not readable
│   └── SourceUnavailable       [source-unavailable]       the system of a source does not answer; exit code 75
├── RegistryError               [registry]                 a schema registry refuses us
│   └── RegistryUnavailable     [registry-unavailable]     it does not answer; exit code 75
├── JvmGone                     [jvm-gone]                 the JVM was ended, or ended; exit code 75
├── EndedFromOutside            [ended-from-outside]       something else has stopped a query that was to go on; exit code 75
├── CheckpointError             [checkpoint]               checkpoint and outputs contradict each other
│   ├── OutputInUse             [output-in-use]            the output belongs to another incarnation (R1)
│   ├── WrongCheckpoint         [wrong-checkpoint]         the checkpoint belongs to another job or query (R1)
│   ├── PlanChanged             [plan-changed]             the job keeps other state than the checkpoint was made with (R25)
│   ├── UnknownFormat           [unknown-format]           a manifest, ledger entry or the like is of a format that this version does not know (R30)
│   ├── UnknownState            [unknown-state]            an operator is in a checkpoint whose state this version does not read
│   ├── TornCheckpoint          [torn-checkpoint]          a checkpoint file is missing or cut short and cannot be restored
│   ├── FingerprintMismatch     [fingerprint-mismatch]     a batch is not what its manifest says it was (R2)
│   ├── NondeterministicReplay  [nondeterministic-replay]  a replayed batch computed something else after being published (R4)
│   ├── StagedRowsGone          [staged-rows-gone]         a manifest is there, its staged rows are not, and nothing is published (R7)
│   └── TwoDrivers              [two-drivers]              another driver works on this checkpoint (R7)
├── SinkError                   [sink]                     a sink cannot be written: no permission, an answer that is no
│   ├── DiskFull                [disk-full]                the disk of an output or of the checkpoint is full
│   ├── SinkUnavailable         [sink-unavailable]         the store does not answer; the output catches up once it does (R8); exit code 75
│   └── StoreEmptied            [store-emptied]            what was published is not in the store any more
├── StoreUnavailable            [store-unavailable]        the store that backups go to does not answer; exit code 75
├── DivertError                 [divert]                   a side output cannot be trusted: no batch id, two diverts in one plan (R5)
├── AccountError                [account]                  a run's records are not each in exactly one place (R31); exit code 4
├── LabError                    [lab]                      a service of the lab cannot be fetched or does not come up
└── ScenarioError               [scenario]                 the scenario file is wrong; exit code 2
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Self

TRY_AGAIN = 75
"""The exit code of what a restart mends, once what is down is there again: EX_TEMPFAIL of sysexits.h."""
OWN_FAULT = 70
"""The exit code of a fault of Streamproof's own: EX_SOFTWARE."""


class RemedyAction(StrEnum):
    """What `remedy` asks for, where a program can do it."""

    REPLAY_LAST = "replay-last"
    """Run again with --replay-last."""
    MOVE_AWAY = "move-away-and-replay-last"
    """Move the directory of the batch away, and run again with --replay-last."""


class StreamproofError(Exception):
    """Base of all errors: says where, what was found, what is required and what to do.

    Parameters
    ----------
    message
        Where it is and what was found.
    required
        What is required instead, as a sentence.
    remedy
        What to do, as a sentence or a command.
    action
        The same for a program, where it can do it.
    """

    code: ClassVar[str] = "error"
    exit_code = 1
    failure: Any = None
    """Where in a run it came up, a `Failure` (runtime/watching/failure.py), of an error that has stopped one."""

    def __init__(self, message: str, *, required: str = "", remedy: str = "", action: RemedyAction | None = None) -> None:
        self.message, self.required, self.remedy, self.action = message, required, remedy, action
        self.at: Mapping[str, Any] = {}
        """What is known of where it came up: query, batch, output, frames, sql, sample."""
        super().__init__("\n".join(part for part in (message, required, remedy) if part))

    def is_at(self, **known: Any) -> Self:
        """Keeps where it came up; what was said nearer to its place stays."""
        self.at = {**known, **self.at}
        return self

    def change_remedy(self, remedy: str) -> None:
        """Has the error say another remedy, which no program can do."""
        self.remedy, self.action = remedy, None
        self.args = ("\n".join(part for part in (self.message, self.required, remedy) if part),)


class ConfigurationError(StreamproofError):
    """The configuration file, the command line or the job's definition is wrong: the user must change something."""

    code = "configuration"
    exit_code = 2


class JobDefinitionError(ConfigurationError):
    """The job function asks for something that cannot be, or not yet."""

    code = "job-definition"


class EnvironmentProblem(ConfigurationError):
    """Java, Spark or a permission is missing or too old."""

    code = "environment"


class TooManyOpenFiles(EnvironmentProblem):
    """The process may open no further file."""

    code = "too-many-open-files"


class MachineShort(EnvironmentProblem):
    """The machine did not let the job of a proof run to its end, also when it was run again: nothing is known of the job."""

    code = "machine"
    exit_code = 3


class MissingExtra(ConfigurationError):
    """A library that an extra installs is not there."""

    code = "missing-extra"


class PortTaken(ConfigurationError):
    """Another program listens on the port that the metrics or the live page were to be shown on."""

    code = "port-taken"
    exit_code = TRY_AGAIN


class ScenarioError(ConfigurationError):
    """The scenario file is wrong."""

    code = "scenario"


class DataError(StreamproofError):
    """The input cannot be read."""

    code = "data"


class SourceUnavailable(DataError):
    """The system of a source does not answer."""

    code = "source-unavailable"
    exit_code = TRY_AGAIN


class RegistryError(StreamproofError):
    """A schema registry refuses us: no record is rejected for it."""

    code = "registry"


class RegistryUnavailable(RegistryError):
    """A schema registry does not answer."""

    code = "registry-unavailable"
    exit_code = TRY_AGAIN


class JvmGone(StreamproofError):
    """The JVM was ended, or ended: it was killed, or ran out of memory."""

    code = "jvm-gone"
    exit_code = TRY_AGAIN


class EndedFromOutside(StreamproofError):
    """A query that goes on until it is told to end has ended without an error: something other than this run has stopped it."""

    code = "ended-from-outside"
    exit_code = TRY_AGAIN


class CheckpointError(StreamproofError):
    """Checkpoint and outputs contradict each other."""

    code = "checkpoint"


class OutputInUse(CheckpointError):
    """The output belongs to another incarnation of the job (R1)."""

    code = "output-in-use"


class WrongCheckpoint(CheckpointError):
    """The checkpoint belongs to another job or query (R1)."""

    code = "wrong-checkpoint"


class PlanChanged(CheckpointError):
    """The job keeps other state than the checkpoint was made with (R25)."""

    code = "plan-changed"


class UnknownFormat(CheckpointError):
    """A manifest, ledger entry or the like is of a format that this version does not know (R30): it is not torn, and stays as it is."""

    code = "unknown-format"


class UnknownState(CheckpointError):
    """An operator is in a checkpoint whose state this version does not read: what it holds is not passed over."""

    code = "unknown-state"


class TornCheckpoint(CheckpointError):
    """A checkpoint file is missing or cut short and cannot be restored."""

    code = "torn-checkpoint"


class FingerprintMismatch(CheckpointError):
    """A batch is not what its manifest says it was (R2)."""

    code = "fingerprint-mismatch"


class NondeterministicReplay(CheckpointError):
    """A replayed batch computed something else after being published (R4)."""

    code = "nondeterministic-replay"


class StagedRowsGone(CheckpointError):
    """A manifest is there, its staged rows are not, and they are not all published (R7).

    Parameters
    ----------
    batch
        Whose rows they are, where that is known.
    """

    code = "staged-rows-gone"

    def __init__(
        self, message: str, *, required: str = "", remedy: str = "", action: RemedyAction | None = None, batch: int | None = None
    ) -> None:
        self.batch = batch
        super().__init__(message, required=required, remedy=remedy, action=action)


class TwoDrivers(CheckpointError):
    """Another driver works on this checkpoint (R7)."""

    code = "two-drivers"


class SinkError(StreamproofError):
    """A sink cannot be written."""

    code = "sink"


class DiskFull(SinkError):
    """The disk of an output or of the checkpoint is full."""

    code = "disk-full"


class SinkUnavailable(SinkError):
    """The store of a sink does not answer, or may not be written just now (R8)."""

    code = "sink-unavailable"
    exit_code = TRY_AGAIN


class StoreEmptied(SinkError):
    """What was published is not in the store any more: it was emptied, or it is another one."""

    code = "store-emptied"


class StoreUnavailable(StreamproofError):
    """The store that backups go to does not answer."""

    code = "store-unavailable"
    exit_code = TRY_AGAIN


class DivertError(StreamproofError):
    """A side output cannot be trusted (R5)."""

    code = "divert"


class AccountError(StreamproofError):
    """A run's records are not each in exactly one place (R31).

    Parameters
    ----------
    result
        What the run did, a RunResult: it went to its end, and what it published stands.
    """

    code = "account"
    exit_code = 4

    def __init__(self, message: str, result: Any, *, required: str = "", remedy: str = "") -> None:
        self.result = result
        super().__init__(message, required=required, remedy=remedy)


class LabError(StreamproofError):
    """A service of the lab cannot be fetched or does not come up."""

    code = "lab"
