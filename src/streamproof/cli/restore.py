"""`streamproof restore PLACE --to CHECKPOINT`: puts a backup where its checkpoint was."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.cli.backup import Endpoint, Region

if TYPE_CHECKING:
    from streamproof.savepoints.restore import Restored

EXAMPLES = """\b
Examples:
  mv checkpoints/my_job/exposure exposure.damaged
  streamproof restore /backup/exposure --to checkpoints/my_job/exposure --plans-of exposure.damaged
  streamproof run my_job
  streamproof restore s3://bucket/backups/exposure --to checkpoints/my_job/exposure --region eu-central-1

\b
What it does:
  takes the newest backup that is sound, copies it to CHECKPOINT, where nothing may be, and compares the copy byte for byte;
  what comes from a store is compared with the SHA-256 in the list of that backup.
  Of a job of ours it adds the plans of the batches since: a start does these again as they were planned, over the same input,
  and compares them with what is published. The backup is not changed, and no Spark is started.
"""


def restore(
    backup: Annotated[
        str, typer.Argument(metavar="PLACE", help="The folder, or the URI of a store, that the backups of one checkpoint are in.")
    ],
    to: Annotated[
        Path, typer.Option("--to", metavar="CHECKPOINT", help="Where the checkpoint was: the same path, and nothing there.")
    ],
    batch: Annotated[int | None, typer.Option(metavar="N", min=0, help="The backup after batch N; without it the newest.")] = None,
    plans_of: Annotated[
        Path | None,
        typer.Option(
            "--plans-of", metavar="DAMAGED", help="The damaged checkpoint: plans of batches that PLACE lacks come from it."
        ),
    ] = None,
    endpoint: Endpoint = None,
    region: Region = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
) -> int:
    """Put a backup where its checkpoint was, with the plans of the batches since."""
    from streamproof.savepoints.places import place_at
    from streamproof.savepoints.restore import restore as restored

    place = place_at(backup, endpoint=endpoint, region=region)
    with screen.waiting("restoring") as say:
        done = restored(place, to, batch=batch, plans_of=plans_of, say=say)
    if as_json:
        screen.console().print(json.dumps(_as_dict(done), indent=2))
    else:
        _print(done)
    return 0


def _as_dict(done: "Restored") -> dict[str, object]:
    return {
        "path": str(done.path),
        "backup": done.point.where,
        "at": done.point.at.isoformat(),
        "batch": done.point.batch,
        "again": list(done.again),
        "passed_over": {point.where: damage for point, damage in done.passed_over},
    }


def _print(done: "Restored") -> None:
    out = screen.console()
    for point, damage in done.passed_over:
        out.print(f"{point.name} is damaged, and passed over: {damage}")
    out.print(f"{done.path} is sound again, as it was after batch {done.point.batch} at {done.point.at:%Y-%m-%d %H:%M:%S} UTC.")
    if done.again:
        first, last = done.again[0], done.again[-1]
        which = f"batch {first} is" if first == last else f"batches {first} to {last} are"
        out.print(
            f"  again         {which} done as planned, over the same input; what is published is compared, and not published twice"
        )
    if done.ours:
        out.print(
            "  after that    input is planned anew; if a batch is published that no plan is left of, the job stops and says so"
        )
    else:
        out.print(
            f"  outputs       batches after {done.point.batch} are written again: rows are doubled unless the sink leaves out a batch that it has"
        )
    out.print("  next          start the job")
