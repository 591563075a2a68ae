"""From the events of a run to OpenLineage's: START, RUNNING, COMPLETE and FAIL of each query, with what it reads and writes."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamproof import __version__
from streamproof.config import output_of
from streamproof.core.clock import monotonic_seconds, now_utc
from streamproof.core.ids import new_uuid
from streamproof.core.log_lines import rfc3339
from streamproof.runtime.watching.events import BatchCommitted, QueryEnded, QueryStarted, RunEvent, RunFailed
from streamproof.runtime.watching.planned_events import Data, QueryPlanned

if TYPE_CHECKING:
    from openlineage.client.event_v2 import InputDataset, Job, OutputDataset
    from openlineage.client.generated.base import RunFacet

NAMESPACE = "streamproof"
"""Of jobs, unless `OPENLINEAGE_NAMESPACE` names another."""
PRODUCER = f"https://pypi.org/project/streamproof/{__version__}"
RUNNING_EVERY_SECONDS = 60.0
"""A job of short batches says each minute that it runs, not with each batch."""


@dataclass
class _Run:
    """A run of one query: what it reads and writes, when it last said that it runs, and what it has done."""

    planned: QueryPlanned
    identity: str = field(default_factory=new_uuid)
    started: bool = False
    said_at: float | None = None
    rows_in: int = 0
    rows_out: dict[str, int] = field(default_factory=dict)


def _unplanned(query: str) -> _Run:
    """A run of which nobody has said what it reads and writes."""
    return _Run(QueryPlanned(query, (), ()))


class RunEvents:
    """A listener of a run that gives OpenLineage's events on.

    Parameters
    ----------
    give
        Takes each event.
    """

    def __init__(self, job: str, give: Callable[[Any], None], clock: Callable[[], float] = monotonic_seconds) -> None:
        self._job, self._give, self._clock = job, give, clock
        self._runs: dict[str, _Run] = {}
        self._hears: Mapping[type[RunEvent], Callable[[Any], None]] = {
            QueryPlanned: self._planned,
            QueryStarted: self._started,
            BatchCommitted: self._committed,
            QueryEnded: self._ended,
            RunFailed: self._failed,
        }

    def __call__(self, event: RunEvent) -> None:
        hear = self._hears.get(type(event))
        if hear is not None:
            hear(event)

    def _planned(self, event: QueryPlanned) -> None:
        self._runs[event.query] = _Run(event)

    def _started(self, event: QueryStarted) -> None:
        run = self._runs.setdefault(event.query, _unplanned(event.query))
        run.started = True
        self._say("START", event.query, run)

    def _committed(self, event: BatchCommitted) -> None:
        run = self._runs.setdefault(event.query, _unplanned(event.query))
        run.rows_in += event.counts.get("input", 0)
        for output, rows in event.rows.items():
            run.rows_out[output] = run.rows_out.get(output, 0) + rows
        if run.said_at is None or self._clock() - run.said_at >= RUNNING_EVERY_SECONDS:
            run.said_at = self._clock()
            self._say("RUNNING", event.query, run)

    def _ended(self, event: QueryEnded) -> None:
        self._say("COMPLETE", event.query, self._runs.pop(event.query, _unplanned(event.query)))

    def _failed(self, event: RunFailed) -> None:
        """Of each query that ran: it ends with the run. What the error says stays in the log, since it may quote a value of a row."""
        from openlineage.client.generated.error_message_run import ErrorMessageRunFacet

        error = ErrorMessageRunFacet(message=f"{event.error} ({event.code})", programmingLanguage="PYTHON")
        for query, run in self._runs.items():
            if run.started:
                self._say("FAIL", query, run, {"errorMessage": error})
        self._runs.clear()

    def _say(self, what: str, query: str, run: _Run, more: "Mapping[str, RunFacet] | None" = None) -> None:
        from openlineage.client.event_v2 import Run, RunState
        from openlineage.client.event_v2 import RunEvent as Said

        self._give(
            Said(
                eventTime=rfc3339(now_utc()),
                producer=PRODUCER,
                run=Run(run.identity, {**_engine(), **(more or {})}),
                job=self._job_of(query),
                eventType=RunState[what],
                inputs=[each for data in run.planned.reads for each in _inputs(data, run, one=len(run.planned.reads) == 1)],
                outputs=[each for data in run.planned.writes for each in _outputs(data, run)],
            )
        )

    def _job_of(self, query: str) -> "Job":
        from openlineage.client.event_v2 import Job
        from openlineage.client.generated.job_type_job import JobTypeJobFacet

        kind = JobTypeJobFacet(processingType="STREAMING", integration="STREAMPROOF", jobType="QUERY")
        return Job(os.environ.get("OPENLINEAGE_NAMESPACE") or NAMESPACE, f"{self._job}.{query}", {"jobType": kind})


def _engine() -> dict[str, Any]:
    from openlineage.client.generated.processing_engine_run import ProcessingEngineRunFacet

    from streamproof._jvm import installed_spark

    return {"processing_engine": ProcessingEngineRunFacet(installed_spark(), "spark", __version__)}


def _schema(columns: Mapping[str, str]) -> dict[str, Any]:
    from openlineage.client.generated.schema_dataset import SchemaDatasetFacet, SchemaDatasetFacetFields

    if not columns:
        return {}
    return {"schema": SchemaDatasetFacet([SchemaDatasetFacetFields(name, kind) for name, kind in columns.items()])}


def _inputs(data: Data, run: _Run, *, one: bool) -> "Iterable[InputDataset]":
    """`one` where nothing else is read: what was read is then of this one."""
    from openlineage.client.event_v2 import InputDataset
    from openlineage.client.generated.input_statistics_input_dataset import InputStatisticsInputDatasetFacet

    counted: dict[str, Any] = {"inputStatistics": InputStatisticsInputDatasetFacet(rowCount=run.rows_in)}
    facets = counted if one and len(data.datasets) == 1 and run.said_at is not None else {}
    return [InputDataset(each.namespace, each.name, facets=_schema(data.columns), inputFacets=facets) for each in data.datasets]


def _outputs(data: Data, run: _Run) -> "Iterable[OutputDataset]":
    from openlineage.client.event_v2 import OutputDataset
    from openlineage.client.generated.output_statistics_output_dataset import OutputStatisticsOutputDatasetFacet

    rows = run.rows_out.get(output_of(data.name))
    counted: dict[str, Any] = {"outputStatistics": OutputStatisticsOutputDatasetFacet(rowCount=rows)} if rows is not None else {}
    facets = {**_schema(data.columns), **_lineage(data, run.planned.reads)}
    return [OutputDataset(each.namespace, each.name, facets=facets, outputFacets=counted) for each in data.datasets]


def _lineage(data: Data, reads: Sequence[Data]) -> dict[str, Any]:
    """Of the columns whose origins are known as a whole, and are some; the others are left out."""
    from openlineage.client.generated.column_lineage_dataset import ColumnLineageDatasetFacet, Fields, InputField, Transformation

    datasets = {each.name: each.datasets for each in reads}
    found = {
        column: Fields(
            [
                InputField(dataset.namespace, dataset.name, origin.column, [Transformation("DIRECT", origin.by)])
                for origin in origins
                for dataset in datasets.get(origin.source, ())
            ]
        )
        for column, origins in data.origins.items()
        if origins and not data.hidden.get(column)
    }
    found = {column: fields for column, fields in found.items() if fields.inputFields}
    return {"columnLineage": ColumnLineageDatasetFacet(fields=found)} if found else {}
