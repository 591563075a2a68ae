"""Before a query goes on: does the job still have every output that rows are staged for (R8)."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from streamproof.config import output_of
from streamproof.connectors.sink import Sink
from streamproof.core.manifest import Manifest
from streamproof.errors import WrongCheckpoint
from streamproof.runtime.binding.bound import BoundQuery
from streamproof.runtime.journal.manifests import ManifestStore

if TYPE_CHECKING:
    from streamproof._jvm import Storage


def require_outputs_kept(
    query: BoundQuery, manifests: ManifestStore, interrupted: Manifest | None, sinks: Mapping[str, Sink], storage: "Storage"
) -> None:
    """WrongCheckpoint if the job has an output no more that rows are staged for: of the batch that was interrupted, or of one that waits."""
    if interrupted is not None:
        _require_outputs(interrupted, sinks)
    _require_nothing_waits(storage, query.checkpoints, manifests, query.places)


def _require_outputs(manifest: Manifest, sinks: Mapping[str, Sink]) -> None:
    """WrongCheckpoint if an interrupted batch has staged rows for an output that the job does not have any more."""
    for section in manifest.sections:
        if section.digest.rows and section.output not in sinks:
            raise WrongCheckpoint(
                f"Batch {manifest.batch} of {manifest.query} was interrupted with {section.digest.rows} rows for the output "
                f"{section.output}, which the job does not have any more.",
                required=f"The outputs now are {', '.join(sinks)}.",
                remedy="Run the job once with its former outputs, then change them.",
            )


def _require_nothing_waits(storage: "Storage", checkpoints: str, manifests: ManifestStore, outputs: Collection[str]) -> None:
    """WrongCheckpoint if rows still wait for an output that the job does not have any more: Spark has gone beyond their batches (R8).

    Parameters
    ----------
    checkpoints
        What [job] checkpoint is; what is staged for services lies beside it, in a folder for each output.
    outputs
        All that the job has.
    """
    beside, _, name = checkpoints.rstrip("/").rpartition("/")
    for folder in storage.list(beside):
        output = folder.removeprefix(f"{name}-")
        if output == folder:
            continue
        staging = f"{beside}/{folder}/_staging"
        waiting = [directory for directory in storage.list(staging) if _has_rows_in(directory, output, manifests, outputs)]
        if waiting:
            raise WrongCheckpoint(
                f"{len(waiting)} batches with rows for the output {output}, which the job does not have any more, are still staged in {staging}.",
                required="What waits for an output is published before the job goes on without it.",
                remedy="Run the job once with its former outputs, then change them. If nobody wants these rows, delete that folder.",
            )


def _has_rows_in(directory: str, output: str, manifests: ManifestStore, outputs: Collection[str]) -> bool:
    """Whether a manifest names a staged directory of an output, with rows for a sink that the job does not have any more."""
    number = directory.partition("-")[0]
    if not number.isdigit():
        return False
    try:
        manifest = manifests.read(int(number))
    except ValueError:
        return False
    return manifest is not None and any(
        output_of(section.output) == output
        and section.output not in outputs
        and section.digest.rows > 0
        and section.directory == f"_staging/{directory}"
        for section in manifest.sections
    )
