"""`streamproof backup CHECKPOINT --to DIR`: a verified copy of the newest sound point of a checkpoint in a second place."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen

if TYPE_CHECKING:
    from streamproof.savepoints.backup import BackedUp

EXAMPLES = """\b
Examples:
  streamproof backup checkpoints/my_job/exposure --to /backup/exposure
  streamproof backup /data/checkpoints/clicks --to /backup/clicks --keep 24 --json
  streamproof restore /backup/exposure --to checkpoints/my_job/exposure      puts the newest back

\b
What it does:
  copies what a start after the newest sound batch needs to a new folder in DIR, reads it back and verifies it.
  The job may run meanwhile. A file that the backup before has with the same bytes is linked, not copied.
  CHECKPOINT is not changed, and no Spark is started. Any Spark job's checkpoint will do.
  A job does it by itself, on a schedule: [backup] in streamproof.toml.

\b
Exit codes:
  0  done      1  CHECKPOINT is damaged: the backup is of an older batch, or could not be made      2  wrong usage, or nothing to back up
"""
_DAMAGED = 1


def backup(
    checkpoint: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="The folder of one query.")],
    to: Annotated[
        Path, typer.Option("--to", metavar="DIR", help="The folder for backups of this checkpoint; made if it is not there.")
    ],
    keep: Annotated[
        int, typer.Option(metavar="N", min=1, help="So many backups stay; older ones go once the new one is sound.")
    ] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
) -> int:
    """Back up the newest sound point of a checkpoint, verified; the job may run meanwhile."""
    from streamproof.savepoints.backup import back_up

    with screen.waiting("backing up") as say:
        done = back_up(checkpoint, to, keep=keep, say=say)
    if as_json:
        screen.console().print(json.dumps(_as_dict(done), indent=2))
    else:
        _print(done, checkpoint, to)
    return _DAMAGED if done.behind else 0


def _as_dict(done: "BackedUp") -> dict[str, object]:
    return {
        "path": str(done.point.path),
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
        "removed": [str(point.path) for point in done.removed],
    }


def _print(done: "BackedUp", checkpoint: str, to: Path) -> None:
    from streamproof.report.words import counted

    out = screen.console()
    if done.made:
        out.print(f"{done.point.path} is sound, and a start goes on after batch {done.batch}.")
    else:
        out.print(f"{done.point.path} is the newest backup still: it is sound, and the checkpoint has nothing newer.")
    shared = done.files - done.copied_files
    out.print(f"  size          {counted(done.files, 'file')}, {_size(done.bytes)}")
    if done.made:
        out.print(
            f"  copied        {counted(done.copied_files, 'file')}, {_size(done.copied_bytes)}; {shared:,} as in the backup before"
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
        out.print(f"  removed       {', '.join(point.path.name for point in done.removed)}")
    out.print(f"  restore it    streamproof restore {shlex.quote(str(to))} --to {shlex.quote(checkpoint)}")


def _size(count: int) -> str:
    for unit in ("bytes", "KB", "MB"):
        if count < 1_000 or unit == "MB":
            return f"{count:,} {unit}"
        count = round(count / 1_000)
    return ""
