"""Every error Streamproof raises on purpose. The exit code of `run` is the error's: 1 where a person must look, unless it says otherwise.

StreamproofError
├── ConfigurationError          the configuration file, the command line or the job's definition; exit code 2
│   ├── JobDefinitionError      the job function asks for something that cannot be, or not yet
│   ├── EnvironmentProblem      Java, Spark or a permission is missing or too old
│   └── MissingExtra            a library that an extra installs is not there
├── DataError                   the input cannot be read: a file vanished, is no Parquet, is not readable
│   └── SourceUnavailable       the system of a source does not answer; exit code 75
├── RegistryError               a schema registry refuses us
│   └── RegistryUnavailable     it does not answer; exit code 75
├── JvmGone                     the JVM was ended, or ended; exit code 75
├── CheckpointError             checkpoint and outputs contradict each other
│   ├── OutputInUse             the output belongs to another incarnation (R1)
│   ├── WrongCheckpoint         the checkpoint belongs to another job or query (R1)
│   ├── PlanChanged             the job keeps other state than the checkpoint was made with (R25)
│   ├── UnknownFormat           a manifest, ledger entry or the like is of a format that this version does not know (R30)
│   ├── TornCheckpoint          a checkpoint file is missing or cut short and cannot be restored
│   ├── FingerprintMismatch     a batch is not what its manifest says it was (R2)
│   ├── NondeterministicReplay  a replayed batch computed something else after being published (R4)
│   ├── StagedRowsGone          a manifest is there, its staged rows are not, and nothing is published (R7)
│   └── TwoDrivers              another driver works on this checkpoint (R7)
├── SinkError                   a sink cannot be written: full disk, no permission
│   ├── SinkUnavailable         the store does not answer; the output catches up once it does (R8); exit code 75
│   └── StoreEmptied            what was published is not in the store any more
├── DivertError                 a side output cannot be trusted: no batch id, two diverts in one plan (R5)
├── AccountError                a run's records are not each in exactly one place (R31); exit code 4
├── LabError                    a service of the lab cannot be fetched or does not come up
└── ScenarioError               the scenario file is wrong; exit code 2
"""

from typing import Any

TRY_AGAIN = 75
"""The exit code of what a restart mends, once what is down is there again: EX_TEMPFAIL of sysexits.h."""
OWN_FAULT = 70
"""The exit code of a fault of Streamproof's own: EX_SOFTWARE."""
DISK_FULL = "The disk is full"
"""How the message of a SinkError begins that says so."""


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
    """

    exit_code = 1

    def __init__(self, message: str, *, required: str = "", remedy: str = "") -> None:
        self.message, self.required, self.remedy = message, required, remedy
        super().__init__("\n".join(part for part in (message, required, remedy) if part))


class ConfigurationError(StreamproofError):
    """The configuration file, the command line or the job's definition is wrong: the user must change something."""

    exit_code = 2


class JobDefinitionError(ConfigurationError):
    """The job function asks for something that cannot be, or not yet."""


class EnvironmentProblem(ConfigurationError):
    """Java, Spark or a permission is missing or too old."""


class MissingExtra(ConfigurationError):
    """A library that an extra installs is not there."""


class ScenarioError(ConfigurationError):
    """The scenario file is wrong."""


class DataError(StreamproofError):
    """The input cannot be read."""


class SourceUnavailable(DataError):
    """The system of a source does not answer."""

    exit_code = TRY_AGAIN


class RegistryError(StreamproofError):
    """A schema registry refuses us: no record is rejected for it."""


class RegistryUnavailable(RegistryError):
    """A schema registry does not answer."""

    exit_code = TRY_AGAIN


class JvmGone(StreamproofError):
    """The JVM was ended, or ended: it was killed, or ran out of memory."""

    exit_code = TRY_AGAIN


class CheckpointError(StreamproofError):
    """Checkpoint and outputs contradict each other."""


class OutputInUse(CheckpointError):
    """The output belongs to another incarnation of the job (R1)."""


class WrongCheckpoint(CheckpointError):
    """The checkpoint belongs to another job or query (R1)."""


class PlanChanged(CheckpointError):
    """The job keeps other state than the checkpoint was made with (R25)."""


class UnknownFormat(CheckpointError):
    """A manifest, ledger entry or the like is of a format that this version does not know (R30): it is not torn, and stays as it is."""


class TornCheckpoint(CheckpointError):
    """A checkpoint file is missing or cut short and cannot be restored."""


class FingerprintMismatch(CheckpointError):
    """A batch is not what its manifest says it was (R2)."""


class NondeterministicReplay(CheckpointError):
    """A replayed batch computed something else after being published (R4)."""


class StagedRowsGone(CheckpointError):
    """A manifest is there, its staged rows are not, and they are not all published (R7).

    Parameters
    ----------
    batch
        Whose rows they are, where that is known.
    """

    def __init__(self, message: str, *, required: str = "", remedy: str = "", batch: int | None = None) -> None:
        self.batch = batch
        super().__init__(message, required=required, remedy=remedy)


class TwoDrivers(CheckpointError):
    """Another driver works on this checkpoint (R7)."""


class SinkError(StreamproofError):
    """A sink cannot be written."""


class SinkUnavailable(SinkError):
    """The store of a sink does not answer, or may not be written just now (R8)."""

    exit_code = TRY_AGAIN


class StoreEmptied(SinkError):
    """What was published is not in the store any more: it was emptied, or it is another one."""


class DivertError(StreamproofError):
    """A side output cannot be trusted (R5)."""


class AccountError(StreamproofError):
    """A run's records are not each in exactly one place (R31).

    Parameters
    ----------
    result
        What the run did, a RunResult: it went to its end, and what it published stands.
    """

    exit_code = 4

    def __init__(self, message: str, result: Any, *, required: str = "", remedy: str = "") -> None:
        self.result = result
        super().__init__(message, required=required, remedy=remedy)


class LabError(StreamproofError):
    """A service of the lab cannot be fetched or does not come up."""
