"""Faults on what we write into a checkpoint beside Spark's own files.

- *incarnation-torn*: the incarnation is cut to half; the manifests name it as well, and the job goes on as the one it was. It fired if
  the file was there.
- *unknown-format*: the manifest of the interrupted batch has a format that nobody knows yet. The job must stop, and change neither the
  manifest nor what is published; with the manifest put back it goes on. It fired if the file was there.
"""

import json
from typing import TYPE_CHECKING

from streamproof.core.phases import Phase
from streamproof.errors import UnknownFormat
from streamproof.prove.faults.on_files import Case, FileFault, NotMet, Unmet, after, require_same

if TYPE_CHECKING:
    from streamproof.prove.process.task import ChildResult

_OF_NOBODY = 1_000_000


def _incarnation_torn(case: Case) -> "ChildResult":
    file = case.checkpoint / "_streamproof" / "incarnation.json"
    text = file.read_text()
    file.write_text(text[: len(text) // 2])
    result = case.start()
    if not result.code:
        before, now = json.loads(text)["incarnation"], json.loads(file.read_text())["incarnation"]
        if now != before:
            raise NotMet(Unmet.OTHER_INCARNATION, "the checkpoint goes on under another incarnation", before, now)
    return result


def _unknown_format(case: Case) -> "ChildResult":
    manifest = case.checkpoint / "_streamproof" / "manifests" / str(case.batch)
    ours = manifest.read_text()
    manifest.write_text(json.dumps({**json.loads(ours), "format": _OF_NOBODY}))

    def left() -> dict[str, bytes]:
        return {**case.published(), "the manifest": manifest.read_bytes() if manifest.exists() else b""}

    before = left()
    case.require_stopped_by(UnknownFormat, case.start())
    require_same("a job has gone on from a manifest of an unknown format", before, left())
    manifest.write_text(ours)
    return case.start()


FAULTS = (
    FileFault(
        "incarnation-torn",
        "the process dies, and the incarnation of the checkpoint is torn",
        after(Phase.COMMIT, "commits"),
        _incarnation_torn,
    ),
    FileFault(
        "unknown-format",
        "the process dies, and the manifest has a format of another version until it is put back,",
        after(Phase.STAGE, "manifest"),
        _unknown_format,
    ),
)
