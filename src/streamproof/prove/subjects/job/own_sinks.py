"""Sinks of the job's own that write to a store: writes what readers see there to files, as for every service."""

from typing import TYPE_CHECKING

from streamproof._jvm import Storage
from streamproof.prove.process.environment import in_environment
from streamproof.prove.record.binding import OUT
from streamproof.prove.services.kind import Published
from streamproof.prove.services.places import written
from streamproof.prove.subjects.job.binding import bind_job
from streamproof.runtime.binding.sinks import sink_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.config import JobConfig
    from streamproof.prove.record.binding import ScenarioBinding


def harvest_own(binding: "ScenarioBinding", config: "JobConfig", spark: "SparkSession") -> None:
    """Asks each sink of the job's own what its store holds, where the job keeps stores of its own; files are left as they are."""
    own = [name for name, sink in config.sink.items() if sink.is_of_the_job]
    if not own or not binding.environment:
        return
    with in_environment(binding.environment):
        bound = bind_job(binding, config)
        for output in own:
            rows = sink_of(bound.config, bound.places[output], spark, Storage(spark)).contents()
            if rows is not None:
                written(binding.folder / OUT / output, (Published(batch, values) for batch, values in rows))
