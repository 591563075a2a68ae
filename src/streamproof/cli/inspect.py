"""`streamproof inspect CHECKPOINT`: what is in a checkpoint, of a job of ours or of any other program."""

import json
from typing import Annotated

import typer

from streamproof.cli import screen

EXAMPLES = """\b
Examples:
  streamproof inspect checkpoints/my_job/exposure
  streamproof inspect /data/checkpoints/clicks --json

\b
What it reads:
  the checkpoint of one query, of Spark 3.5 to 4.3, whoever wrote it: of a stopped job, or a copy of a running one's.
  Nothing is changed.
"""


def inspect(
    checkpoint: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="The folder of one query.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> int:
    """Show what is in a checkpoint: offsets, watermarks, batches, settings, the size of its state. It starts no Spark."""
    from streamproof.checkpoint.inspection import inspect_checkpoint

    found = inspect_checkpoint(checkpoint)
    if as_json:
        screen.console().print(json.dumps(found.as_dict(), indent=2))
        return 0
    from streamproof.core.clock import now_utc
    from streamproof.report.inspect import print_inspection

    print_inspection(found, screen.console(), now_utc())
    return 0
