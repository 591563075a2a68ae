"""Faults on what we write into a checkpoint beside Spark's own files.

- *incarnation-torn*: the incarnation is cut to half; the manifests name it as well, and the job goes on as the one it was. It fired if
  the file was there.
"""

import json
from typing import TYPE_CHECKING

from streamproof.core.phases import Phase
from streamproof.prove.faults.on_files import Case, FileFault, NotMet, after

if TYPE_CHECKING:
    from streamproof.prove.process.child import ChildResult


def _incarnation_torn(case: Case) -> "ChildResult":
    file = case.checkpoint / "_streamproof" / "incarnation.json"
    text = file.read_text()
    file.write_text(text[: len(text) // 2])
    result = case.start()
    if not result.error:
        before, now = json.loads(text)["incarnation"], json.loads(file.read_text())["incarnation"]
        if now != before:
            raise NotMet("the checkpoint goes on under another incarnation", before, now)
    return result


FAULTS = (
    FileFault(
        "incarnation-torn",
        "the process dies, and the incarnation of the checkpoint is torn",
        after(Phase.COMMIT, "commits"),
        _incarnation_torn,
    ),
)
