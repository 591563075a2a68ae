"""Before a query starts: do its checkpoint, its source and its outputs belong together (R1)."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from streamproof.connectors.sink import Sink
from streamproof.core.manifest import Manifest
from streamproof.core.places import resolved, seen_from
from streamproof.errors import OutputInUse
from streamproof.runtime.binding.bound import BoundQuery
from streamproof.runtime.journal.manifests import ManifestStore, batches_with_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def require_together(
    query: BoundQuery,
    manifests: ManifestStore,
    incarnation: str,
    sinks: Mapping[str, Sink],
    spark: "SparkSession",
    accepted: Collection[str],
) -> dict[str, str]:
    """Looks whether checkpoint, outputs and source belong together; the ids of what is read, by name.

    An output that may fall behind is looked at before the first publication there: its store may be down.

    Raises
    ------
    OutputInUse, WrongCheckpoint
        If they do not.
    """
    check_owner([sink for sink in sinks.values() if not sink.may_lag], incarnation, query.job, manifests)
    require_places(manifests, sinks)
    inputs = dict(enumerate(query.inputs.values()))
    ids: dict[str, str] = {}
    for kind in dict.fromkeys(type(source) for source in inputs.values()):
        mine = {number: source for number, source in inputs.items() if type(source) is kind}
        ids |= kind.require_same(mine, manifests, spark, accepted)
    return ids


def check_owner(sinks: Iterable[Sink], incarnation: str, job: str, manifests: ManifestStore) -> int:
    """OutputInUse if a checkpoint meets an output of another incarnation (R1); else its newest batch that an output has, -1 without one."""
    newest = -1
    for sink in sinks:
        owner = sink.owner()
        if owner is None:
            continue
        if owner.incarnation == incarnation:
            newest = max(newest, owner.batch)
            continue
        whose = "another run of this job" if owner.job == job else f"the job {owner.job}"
        belongs = f"The output {sink.place.where} belongs to {whose} (incarnation {owner.incarnation[:4]}); the checkpoint "
        if manifests.begun():
            raise OutputInUse(
                f"{belongs}{manifests.checkpoint} has published elsewhere (incarnation {incarnation[:4]}).",
                required="One output takes the rows of one checkpoint.",
                remedy="Bind the output to where this checkpoint began to publish, or run with the same --new-output again.",
            )
        raise OutputInUse(
            f"{belongs}{manifests.checkpoint} is new.",
            required="Going on would publish rows twice.",
            remedy=f"Either restore the checkpoint (streamproof restore BACKUP --to {manifests.checkpoint}), or start over:\n{_start_over(sink)}",
        )
    return newest


def _start_over(sink: Sink) -> str:
    replace_it = "streamproof run TARGET --replace-output"
    if sink.place.where != sink.place.path:
        elsewhere = f"bind [sink.{sink.place.output}] to another table, topic or prefix"
        return f"{elsewhere}      or      {replace_it}" if sink.clearable else elsewhere
    return f"streamproof run TARGET --new-output {sink.place.path.rsplit('/', 1)[-1]}-2      or      {replace_it}"


_ANOTHER_CHECKPOINT = 'another checkpoint; one for a profile alone stands in [profile.NAME.job] checkpoint = "..."'


def require_places(manifests: ManifestStore, sinks: Mapping[str, Sink]) -> None:
    """OutputInUse if an output was bound elsewhere when the newest batch ran, and has not moved along, or is written by another sink."""
    newest = next(manifests.newest_first(), None)
    if newest is None:
        return
    for output, sink in sinks.items():
        connector = newest.connectors.get(output, sink.place.connector)
        if _class_of(connector) != _class_of(sink.place.connector):
            raise OutputInUse(
                f"The checkpoint {manifests.checkpoint} has published {output} by {connector}; it is bound to {sink.place.connector} now.",
                required="The other sink knows of no batch that is published: the newest could be published twice, the earlier ones would miss.",
                remedy=f"Bind {output} as it was. To start over: {_ANOTHER_CHECKPOINT}.",
            )
        now = seen_from(manifests.checkpoint, sink.place.where)
        before = newest.places.get(output, now)
        if before == now:
            continue
        there = resolved(manifests.checkpoint, before)
        of_files = sink.place.where == sink.place.path
        stayed = _left_behind(sink.at(there), sink, newest) if of_files else _is_elsewhere(manifests, sink)
        if stayed:
            raise OutputInUse(
                f"The checkpoint {manifests.checkpoint} has published {output} at {there}; it is bound to {sink.place.where} now, "
                "where that is not.",
                required="Going on would tear the output in two, and could publish its newest batch twice.",
                remedy=f"Bind {output} to where it was, or move what is there, with its ledger, to the new place. "
                f"To start over: {_ANOTHER_CHECKPOINT}.",
            )


def _class_of(connector: str) -> str:
    """ "files", or the class of a sink of the job's own: its file may be renamed."""
    return connector.rpartition(":")[2]


def _left_behind(old: Sink, new: Sink, newest: Manifest) -> bool:
    """Whether publications stayed at the old place: all of them, or the newest."""
    section = newest.section(new.place.output)
    has_rows = section is not None and bool(section.digest.rows)
    newest_stayed = has_rows and old.published(newest.batch) is not None and new.published(newest.batch) is None
    return newest_stayed or (old.owner() is not None and new.owner() is None)


def _is_elsewhere(manifests: ManifestStore, sink: Sink) -> bool:
    """Whether a service that has another name now knows nothing of the newest batch with rows that may be published."""
    for link in batches_with_rows(manifests.whole, sink.place.output, manifests.batches()):
        no_longer_kept = link.manifest is None and link.chain is not None
        if no_longer_kept or (link.section is not None and not sink.staged_whole(link.section)):
            return sink.published(link.batch) is None
    return False
