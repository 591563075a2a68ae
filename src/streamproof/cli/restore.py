"""`streamproof restore PLACE --to CHECKPOINT`: puts a backup where its checkpoint was."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.cli.backup import Endpoint, Region, of_bytes
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from streamproof.savepoints.place import Place
    from streamproof.savepoints.restore import Restored

EXAMPLES = """\b
Examples:
  mv checkpoints/my_job/exposure exposure.damaged
  streamproof restore /backup/exposure --to checkpoints/my_job/exposure --plans-of exposure.damaged
  streamproof run my_job
  streamproof restore /backup/exposure --list                               what there is
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
        Path | None, typer.Option("--to", metavar="CHECKPOINT", help="Where the checkpoint was: the same path, and nothing there.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Show the backups that are there, newest first, and restore nothing.")
    ] = False,
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
    if listed:
        _list(place, as_json=as_json)
        return 0
    if to is None:
        raise ConfigurationError(
            "It is not said where the checkpoint goes.",
            required="A backup is put where its checkpoint was.",
            remedy="Name that path with --to, or see what there is with --list.",
        )
    with screen.waiting("restoring") as say:
        done = restored(place, to, batch=batch, plans_of=plans_of, say=say)
    if as_json:
        screen.console().print(json.dumps(_as_dict(done), indent=2))
    else:
        _print(done)
    return 0


def _list(place: "Place", *, as_json: bool) -> None:
    from streamproof.report.words import counted

    points = place.points()
    if not points:
        raise place.nothing()
    out = screen.console()
    found = [(point, *place.size(point)) for point in reversed(points)]
    if as_json:
        keys = ("path", "at", "batch", "files", "bytes")
        rows = [(point.where, point.at.isoformat(), point.batch, files, size) for point, files, size in found]
        out.print(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
        return
    for point, files, size in found:
        what = f"{counted(files, 'file')}, {of_bytes(size)}" if files else "its list is cut short: it is no backup"
        out.print(f"  batch {point.batch:<8} {point.at:%Y-%m-%d %H:%M:%S} UTC   {what}")


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
