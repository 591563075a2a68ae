"""Topics of Kafka in a proof: two for each source, written once, which every scenario reads from their start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.config import RegistryConfig
from streamproof.config.columns import sized_columns_of
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.edges import never_sent
from streamproof.prove.scenario.generate import TRACE, Event, without_trace
from streamproof.prove.sources.source import ProvedSource, WrittenSource

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.config import KafkaSource
    from streamproof.prove.record.binding import ScenarioBinding
    from streamproof.prove.scenario.scenario import Scenario
    from streamproof.prove.services import Services

_RECORD = ("_topic", "_partition", "_offset")


@dataclass(frozen=True)
class TopicsInProof(ProvedSource):
    """Topics of Kafka."""

    config: "KafkaSource"

    def require_fits(self, scenario: "Scenario") -> None:
        """ScenarioError if the events shall come in fewer batches than there are: so many records of a topic are read in each."""
        if self.name in scenario.source and scenario.source[self.name].batches is not None:
            raise ScenarioError(
                f"[source.{self.name}] of the scenario has batches, and {self.name} is a topic.",
                required="Only the files of a source can come in fewer batches than there are.",
            )

    def place(self, folder: Path, services: "Services", *, trace: bool) -> str:
        return f"{services.prefix}{self.name}{'' if trace else '-plain'}"

    def write(
        self, made: Sequence[Event], scenario: "Scenario", folder: Path, services: "Services", *, several: bool
    ) -> WrittenSource:
        """Where only committed records are read, some events are written to both topics in a transaction that is aborted."""
        from streamproof.prove.services import topics

        columns = sized_columns_of(self.config.schema_ddl) if self.config.schema_ddl else {}
        committed = scenario.edges and self.config.read == "committed"
        aborted = never_sent(made, scenario.source[self.name]) if committed else []
        names = [self.place(folder, services, trace=trace) for trace in (True, False)]
        every, cut = [*made, *aborted], len(made)
        traced, plain = every, [replace(event, record=without_trace(event.record)) for event in every]
        if self.config.registry is not None:
            from streamproof.prove.services.encoded import encoded

            traced = encoded(every, self.config, columns, services.urls()["registry"], names[0], trace=True)
            plain = encoded(every, self.config, columns, services.urls()["registry"], names[1], trace=False)
        traces = topics.write_events(traced[:cut], services.urls()["kafka"], names[0], traced[cut:])
        topics.write_events(plain[:cut], services.urls()["kafka"], names[1], plain[cut:])
        return WrittenSource(traced[:cut], traces)

    def at(self, binding: "ScenarioBinding") -> "KafkaSource":
        """The proof's topic, from its start."""
        bound: dict[str, Any] = {
            "servers": binding.urls["kafka"],
            "topic": (binding.data[self.name],),
            "records_per_batch": binding.records_per_batch,
            "start": "earliest",
            "options": {},
            "registry": None if self.config.registry is None else RegistryConfig(url=binding.urls["registry"]),
            "schema_file": None,  # events are written by a schema of the columns
            "message": None,
        }
        return self.config.model_copy(update=bound)

    def with_records(self, rows: "DataFrame", traces: Mapping[str, Sequence[str]]) -> "DataFrame":
        """With a record's key, its offset, headers that are carried: `traces` has by its name, "trades-0@17", the trace in it."""
        from pyspark.sql import functions as F

        source = self.config
        if not source.include and not source.carry:
            return rows
        spark = rows.sparkSession
        places = []
        for name, there in traces.items():
            if not there:
                continue  # a record of an aborted transaction
            partitioned, _, offset = name.rpartition("@")
            topic, _, partition = partitioned.rpartition("-")
            places.append((there[0], topic, int(partition), int(offset)))
        where = spark.createDataFrame(places, f"{TRACE} string, _topic string, _partition int, _offset bigint")
        options = {"kafka.bootstrap.servers": source.servers, "subscribe": ",".join(source.topic), "includeHeaders": "true"}
        records = (
            spark.read.format("kafka").options(**options, **{f"kafka.{key}": value for key, value in source.options.items()}).load()
        )
        shown = {
            "key": F.col("key").cast("string"),
            "timestamp": F.col("timestamp"),
            "topic": F.col("topic"),
            "partition": F.col("partition"),
            "offset": F.col("offset"),
            "headers": F.col("headers"),
            "schema_id": _schema_id() if source.registry is not None else F.lit(None).cast("int"),
        }
        own = [shown[name].alias(f"kafka_{name}") for name in source.include]
        own += [
            F.try_element_at(_of_name(name), F.lit(-1))["value"].cast("string").alias(f"carried_{name}") for name in source.carry
        ]
        place = [F.col(name.removeprefix("_")).alias(name) for name in _RECORD]
        return rows.join(where.join(records.select(*place, *own), list(_RECORD)).drop(*_RECORD), TRACE)


def _of_name(name: str) -> "Column":
    from pyspark.sql import functions as F

    return F.filter("headers", lambda header: header["key"] == name)


def _schema_id() -> "Column":
    """The four bytes after the first one."""
    from pyspark.sql import functions as F

    return F.conv(F.hex(F.substring("value", 2, 4)), 16, 10).cast("int")
