"""`streamproof recover CHECKPOINT --to BATCH`: a sound copy of a checkpoint as it was after an older batch."""

import json
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen

if TYPE_CHECKING:
    from streamproof.savepoints.recover import Recovered

EXAMPLES = """\b
Examples:
  streamproof inspect checkpoints/my_job/exposure --verify      says which batches are sound
  streamproof recover checkpoints/my_job/exposure --to 41       makes checkpoints/my_job/exposure-at-41

\b
What it does:
  copies what a start after BATCH needs to a new folder beside CHECKPOINT, reads it back and verifies it.
  CHECKPOINT is not changed. Stop the job first. No Spark is started.
"""


def recover(
    checkpoint: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="The folder of one query.")],
    to: Annotated[int, typer.Option("--to", metavar="BATCH", min=0, help="The copy is as the checkpoint was after this batch.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
) -> int:
    """Make a sound copy of a checkpoint as it was after an older batch, beside it."""
    from streamproof.checkpoint.inspection import inspect_checkpoint
    from streamproof.savepoints.recover import recover as made

    with screen.waiting("recovering") as say:
        say(f"batch {to} of {checkpoint}")
        found = inspect_checkpoint(checkpoint)
        done = made(found, to)
    if as_json:
        told = {"path": str(done.path), "batch": done.batch, "again": done.again, "batches_again": done.cost.batches}
        told |= {"records_again": done.cost.records, "files_again": done.cost.files, "as_planned": list(done.as_planned)}
        screen.console().print(json.dumps(told, indent=2))
        return 0
    _print(done, str(found.path), ours=found.own is not None)
    return 0


def _print(done: "Recovered", path: str, *, ours: bool) -> None:
    from streamproof.report.words import counted

    out, place = screen.console(), shlex.quote(path)
    out.print(f"{done.path} is sound, and a start goes on after batch {done.batch}.")
    read = [
        counted(done.cost.records, "record") if done.cost.records is not None else "",
        counted(done.cost.files, "file") if done.cost.files is not None else "",
    ]
    known = " and ".join(filter(None, read))
    batches = f"{done.cost.batches} batch{'es' if done.cost.batches != 1 else ''}"
    if done.cost.batches:
        out.print(f"  again         {batches}{f', with {known}' if known else ''}")
    if len(done.as_planned) > 1:
        first, last = done.as_planned[0], done.as_planned[-1]
        out.print(f"  as planned    batches {first} to {last} are computed again over the input that they had")
    elif done.again is not None:
        out.print(f"  batch {done.again:<8}is planned as it was, and computed again over the same input")
    if ours:
        out.print(
            "  outputs       batches that are published stay; a batch that comes out otherwise stops the job, and is not published twice"
        )
    else:
        out.print(
            f"  outputs       batches after {done.batch} are written again: rows are doubled unless the sink leaves out a batch that it has"
        )
    out.print(
        f"  use it        stop the job; mv {place} {place}.damaged && mv {shlex.quote(str(done.path))} {place}; start the job"
    )
