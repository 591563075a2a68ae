"""Published rows are those of the manifest, by its id and count. Nothing stays staged that no manifest names (R3, R7)."""

from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History, OutputHistory, QueryView
from streamproof.prove.checkers import Finding, checker


class Code(StrEnum):
    """What is found here."""

    OTHER_MANIFEST = "other-manifest"
    OTHER_ROWS = "other-rows"
    STAGED_LEFT = "staged-left"


@checker("publication")
def publication(history: History) -> Iterator[Finding]:
    """Compare every ledger entry with the manifest of its batch and with the rows beside it."""
    for view in history.queries:
        for output in view.left.outputs.values():
            yield from _ledgers(view, output)
            yield from _leftovers(view, output)


def _ledgers(view: QueryView, output: OutputHistory) -> Iterator[Finding]:
    for batch, entry in output.ledgers.items():
        manifest = view.left.manifests.get(batch)
        if manifest is not None and manifest.id != entry.manifest:
            what = f"batch {batch} of {output.name} was published under another manifest than the checkpoint holds"
            yield Finding(Code.OTHER_MANIFEST, None, what, batch, f"manifest {manifest.id[:8]}", f"manifest {entry.manifest[:8]}")
        rows = len(output.by_batch.get(batch, ()))
        if rows != entry.rows and not output.damaged:
            what = f"the ledger of batch {batch} of {output.name} counts other rows than are published"
            yield Finding(Code.OTHER_ROWS, None, what, batch, f"{entry.rows} rows", f"{rows} rows")


def _leftovers(view: QueryView, output: OutputHistory) -> Iterator[Finding]:
    named = {
        section.directory
        for manifest in view.left.manifests.values()
        for section in manifest.sections
        if section.output == output.name
    }
    for directory in output.staged:
        if directory not in named:
            what = f"{output.name} keeps staged rows in {directory} that no manifest names"
            yield Finding(Code.STAGED_LEFT, None, what, None, "nothing", "files")
