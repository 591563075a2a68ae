"""Before a query starts: do its checkpoint, its source and its outputs belong together (R1)."""

from collections.abc import Mapping
from dataclasses import replace

from streamproof.connectors.sink import Sink
from streamproof.core.manifest import Manifest
from streamproof.errors import OutputInUse, WrongCheckpoint
from streamproof.runtime.failures import path_of
from streamproof.runtime.manifests import ManifestStore
from streamproof.runtime.places import is_below, resolved, seen_from


def check_owner(sinks: Mapping[str, Sink], incarnation: str, job: str, manifests: ManifestStore) -> None:
    """OutputInUse if a checkpoint meets an output of another incarnation (R1)."""
    for sink in sinks.values():
        owner = sink.owner()
        if owner is None or owner.incarnation == incarnation:
            continue
        whose = "another run of this job" if owner.job == job else f"the job {owner.job}"
        belongs = f"The output {sink.place.path} belongs to {whose} (incarnation {owner.incarnation[:4]}); the checkpoint "
        if manifests.begun():
            raise OutputInUse(
                f"{belongs}{manifests.checkpoint} has published elsewhere (incarnation {incarnation[:4]}).",
                required="One output takes the rows of one checkpoint.",
                remedy="Bind the output to where this checkpoint began to publish, or run with the same --new-output again.",
            )
        raise OutputInUse(
            f"{belongs}{manifests.checkpoint} is new.",
            required="Going on would publish rows twice.",
            remedy="Either restore the checkpoint, or start over:\n"
            f"streamproof run TARGET --new-output {sink.place.path.rsplit('/', 1)[-1]}-2      or      streamproof run TARGET --replace-output",
        )


def require_places(manifests: ManifestStore, sinks: Mapping[str, Sink]) -> None:
    """OutputInUse if an output was bound elsewhere when the newest batch ran, and has not moved along, or is written by another sink."""
    numbers = manifests.batches()
    newest = manifests.read(numbers[-1]) if numbers else None
    if newest is None:
        return
    for output, sink in sinks.items():
        connector = newest.connectors.get(output, sink.place.connector)
        if _class_of(connector) != _class_of(sink.place.connector):
            raise OutputInUse(
                f"The checkpoint {manifests.checkpoint} has published {output} by {connector}; it is bound to {sink.place.connector} now.",
                required="The other sink knows of no batch that is published: the newest could be published twice, the earlier ones would miss.",
                remedy=f"Bind {output} as it was. To start over: another checkpoint.",
            )
        now = seen_from(manifests.checkpoint, sink.place.path)
        before = newest.places.get(output, now)
        if before == now:
            continue
        there = resolved(manifests.checkpoint, before)
        if _left_behind(type(sink)(replace(sink.place, path=there)), sink, newest):
            raise OutputInUse(
                f"The checkpoint {manifests.checkpoint} has published {output} at {there}; it is bound to {sink.place.path} now, "
                "where that is not.",
                required="Going on would tear the output in two, and could publish its newest batch twice.",
                remedy=f"Bind {output} to where it was, or move that folder to the new place. To start over: another checkpoint.",
            )


def require_source(manifests: ManifestStore, folder: str) -> None:
    """WrongCheckpoint if the source is bound to another folder than the one that was read last, as in a copied or moved job.

    Spark knows the files it has read by their whole paths: in a copy it would take every event in again.
    """
    for uri in _newest_files(manifests):
        if not is_below(uri, folder):
            raise WrongCheckpoint(
                f"The checkpoint {manifests.checkpoint} has read {path_of(uri)}; the source is bound to {folder} now.",
                required="Spark knows files by their whole paths: those that it has read would be taken in again under another.",
                remedy="Bind the source to where it was. A copy of a job, or another source, starts with a checkpoint and outputs of its own.",
            )


def require_outputs(manifest: Manifest, sinks: Mapping[str, Sink]) -> None:
    """WrongCheckpoint if an interrupted batch has staged rows for an output that the job does not have any more."""
    for section in manifest.sections:
        if section.digest.rows and section.output not in sinks:
            raise WrongCheckpoint(
                f"Batch {manifest.batch} of {manifest.query} was interrupted with {section.digest.rows} rows for the output "
                f"{section.output}, which the job does not have any more.",
                required=f"The outputs now are {', '.join(sinks)}.",
                remedy="Run the job once with its former outputs, then change them.",
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


def _newest_files(manifests: ManifestStore) -> tuple[str, ...]:
    """The URIs of the files that the newest batch with files has read; a few of them tell."""
    of_batches = (manifest.fingerprint.files.values() for manifest in manifests.newest_first())
    read = (tuple(file for files in of_sources for file in files) for of_sources in of_batches)
    return next((files[:3] for files in read if files), ())
