"""`streamproof backup CHECKPOINT --to PLACE`: a verified copy of the newest sound point of a checkpoint in a second place."""

import json
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen

if TYPE_CHECKING:
    from streamproof.savepoints.backup import BackedUp

EXAMPLES = """\b
Examples:
  streamproof backup checkpoints/my_job/exposure --to /backup/exposure
  streamproof backup /data/checkpoints/clicks --to /backup/clicks --keep 24 --json
  streamproof backup checkpoints/my_job/exposure --to s3://bucket/backups/exposure --region eu-central-1
  streamproof restore /backup/exposure --to checkpoints/my_job/exposure      puts the newest back

\b
What it does:
  copies what a start after the newest sound batch needs to a new folder in PLACE, reads it back and verifies it.
  The job may run meanwhile. A file that the backup before has with the same bytes is linked, not copied.
  CHECKPOINT is not changed, and no Spark is started. Any Spark job's checkpoint will do.
  In a store (s3://, gs://, abfs://, hdfs://) a file lies once, by its SHA-256, and is read back too; a backup counts once its list is written.
  Credentials come from the environment alone, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
  A job does it by itself, on a schedule: [backup] in streamproof.toml.

\b
Exit codes:
  0  done      1  CHECKPOINT is damaged: the backup is of an older batch, or could not be made      2  wrong usage, or nothing to back up
  75  the store does not answer: run it again
"""
_DAMAGED = 1
Endpoint = Annotated[
    str | None, typer.Option("--endpoint", metavar="URL", help="Where the store answers, if it is not Amazon's or Google's.")
]
Region = Annotated[str | None, typer.Option("--region", metavar="NAME", help="The region of an S3 bucket.")]


def backup(
    checkpoint: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="The folder of one query.")],
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="PLACE", help="A folder for backups of this checkpoint, made if it is not there; or a URI of a store."
        ),
    ],
    keep: Annotated[
        int, typer.Option(metavar="N", min=1, help="So many backups stay; older ones go once the new one is sound.")
    ] = 3,
    endpoint: Endpoint = None,
    region: Region = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
) -> int:
    """Back up the newest sound point of a checkpoint, verified; the job may run meanwhile."""
    from streamproof.savepoints.backup import back_up
    from streamproof.savepoints.places import place_at

    place = place_at(to, endpoint=endpoint, region=region)
    with screen.waiting("backing up") as say:
        done = back_up(checkpoint, place, keep=keep, say=say)
    if as_json:
        screen.console().print(json.dumps(_as_dict(done), indent=2))
    else:
        _print(done, checkpoint, shlex.join([place.where, *_of_store(endpoint, region)]))
    return _DAMAGED if done.behind else 0


def _of_store(endpoint: str | None, region: str | None) -> list[str]:
    """The options that say where a store answers, as they were given."""
    given = (("--endpoint", endpoint), ("--region", region))
    return [part for option, value in given if value is not None for part in (option, value)]


def _as_dict(done: "BackedUp") -> dict[str, object]:
    return {
        "path": done.point.where,
        "at": done.point.at.isoformat(),
        "batch": done.batch,
        "newest": done.newest,
        "made": done.made,
        "files": done.files,
        "bytes": done.bytes,
        "copied_files": done.copied_files,
        "copied_bytes": done.copied_bytes,
        "plans": done.plans,
        "damage": list(done.behind),
        "removed": [point.where for point in done.removed],
    }


def _print(done: "BackedUp", checkpoint: str, place: str) -> None:
    from streamproof.report.words import counted

    out = screen.console()
    if done.made:
        out.print(f"{done.point.where} is sound, and a start goes on after batch {done.batch}.")
    else:
        out.print(f"{done.point.where} is the newest backup still: it is sound, and the checkpoint has nothing newer.")
    shared = done.files - done.copied_files
    out.print(f"  size          {counted(done.files, 'file')}, {of_bytes(done.bytes)}")
    if done.made:
        out.print(
            f"  copied        {counted(done.copied_files, 'file')}, {of_bytes(done.copied_bytes)}; {shared:,} as in the backup before"
        )
    if done.behind:
        behind = done.newest - done.batch
        out.print(
            f"  damaged       {done.behind[0]} So the backup is {behind} batch{'es' if behind != 1 else ''} older than the checkpoint."
        )
        out.print(f"                streamproof inspect {shlex.quote(checkpoint)} --verify says more")
    if done.plans:
        out.print(f"  plans         of {counted(done.plans, 'batch', 'batches')} since")
    if done.removed:
        out.print(f"  removed       {', '.join(point.name for point in done.removed)}")
    out.print(f"  restore it    streamproof restore {place} --to {shlex.quote(checkpoint)}")


def of_bytes(count: int) -> str:
    """A size as people say it."""
    for unit in ("bytes", "KB", "MB"):
        if count < 1_000 or unit == "MB":
            return f"{count:,} {unit}"
        count = round(count / 1_000)
    return ""
