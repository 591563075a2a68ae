"""Which jobs the real-time trigger can run, said before anything starts (S18)."""

from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.connectors.sources import source_of
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.stream.outputs import Outputs

_REMEDY = 'Take a short interval instead, such as trigger = "1 second".'


def require_possible(config: "JobConfig", outputs: "Outputs") -> None:
    """Looks at every source, operator and main output of a job with the real-time trigger.

    Raises
    ------
    ConfigurationError
        If the installed Spark has no such trigger, or the job has state, reads anything but topics, or writes a main output to anything but
        one topic, at least once.
    """
    if not _jvm.knows_real_time():
        raise _refused(
            config,
            f"and PySpark {_jvm.installed_spark()} is installed",
            f"It needs Spark {_jvm.FIRST_IN_REAL_TIME} or later.",
            _REMEDY,
        )
    for name in dict.fromkeys(source for root in outputs.main.values() for source in root.sources):
        _require_source(config, name)
    for output, root in outputs.main.items():
        for operator in root.keeping:
            raise _refused(
                config,
                f"and the output {output} has a {operator.name}",
                "What a batch remembers is known once it is over, and which rows are late before it begins: a batch of this trigger is neither "
                "when its rows go out. It runs jobs of require, filter, transform and union.",
                _REMEDY,
            )
        for use in root.uses:
            raise _refused(
                config,
                f"and the output {output} looks rows up in the table {use.table}",
                "Which version of a table a batch uses is fixed when the batch is planned, and a batch of this trigger has begun by then.",
                _REMEDY,
            )
        _require_sink(config, output)


def _require_source(config: "JobConfig", name: str) -> None:
    obstacle = source_of(name, config.source[name]).not_in_real_time
    if obstacle is not None:
        raise _refused(config, f"and {obstacle.found}", obstacle.required, obstacle.remedy or _REMEDY)


def _require_sink(config: "JobConfig", output: str) -> None:
    names = config.sinks_of(output)
    if len(names) > 1:
        raise _refused(config, f"and {output} has {len(names)} sinks", "It writes each output to one topic.", "Leave one of them.")
    sink = config.sink.get(output)
    if sink is None:
        return  # said elsewhere, by every trigger
    if not sink.takes_rows_at_once:
        raise _refused(config, f"and [sink.{output}] is {sink.connector}", "It writes to topics of Kafka.", _REMEDY)
    if sink.guarantee != "at-least-once":
        raise _refused(
            config,
            f"and [sink.{output}] is exactly once",
            "Rows go out while their batch still runs. Where it does not end, they go out again.",
            f'Write guarantee = "at-least-once" below [sink.{output}] if readers can bear rows twice. {_REMEDY}',
        )


def _refused(config: "JobConfig", but: str, required: str, remedy: str) -> ConfigurationError:
    return ConfigurationError(
        f"{config.where('job', 'trigger')}: [job] trigger is {config.trigger}, {but}.", required=required, remedy=remedy
    )
