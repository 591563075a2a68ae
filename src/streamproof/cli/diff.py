"""`streamproof diff A B`: where two outputs disagree, row by row and in sums."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.errors import ConfigurationError, StreamproofError

if TYPE_CHECKING:
    from streamproof.replay.diff.result import Diff

EXAMPLES = """\b
Examples:
  streamproof diff out/exposure out-2/exposure --key client,window_start
  streamproof diff stream_job batch_job --key client,window_start --newest revision
  streamproof diff before.parquet after/ --tolerance 0.01 --show 5

\b
What a side is:
  an output that a job of ours has published (read by its ledgers), a folder or a file of Parquet, JSON, CSV
  or Avro, a folder with several outputs in it, or the folder of a job

\b
Exit codes:
  0  the same      1  different      2  wrong usage, or a side that cannot be read      75  start it again: the JVM died
"""
_WRONG = 2
_ONLY_READS = "Both sides are as they were: a comparison only reads."


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="One side.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other.")],
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS", help="Which rows belong together: client,window_start. Without it rows are compared as they are."
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            min=0,
            help="How far numbers may be apart, relative to the larger one or absolutely. Without it: floats a billionth, others not at all.",
        ),
    ] = None,
    newest: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of the rows with the same key take the highest in COLUMN: revision.")
    ] = None,
    ignore: Annotated[str | None, typer.Option(metavar="COLUMNS", help="Columns that are not compared.")] = None,
    output: Annotated[str | None, typer.Option(metavar="NAME", help="One output alone, where the sides have several.")] = None,
    show: Annotated[int, typer.Option(metavar="N", min=0, help="Show so many rows of each kind.")] = 20,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
) -> int:
    """Compare two outputs on Spark: rows that are only in A, only in B, or different, and the sums of their numbers."""
    try:
        found = _compared(a, b, _names(key, "--key"), tolerance, newest, _names(ignore, "--ignore"), output, show)
        if html is not None:
            _write(html, found)
    except StreamproofError as problem:
        if problem.exit_code != 1:
            raise
        screen.print_error(problem)  # 1 says that the sides differ
        return _WRONG
    if as_json:
        screen.console().print(json.dumps(found.as_dict(), indent=2))
    else:
        from streamproof.report.diff import print_diff

        print_diff(found, screen.console())
    return 0 if found.is_same else 1


def _compared(
    a: str,
    b: str,
    key: list[str],
    tolerance: float | None,
    newest: str | None,
    ignored: list[str],
    output: str | None,
    show: int,
) -> "Diff":
    from streamproof.runtime.spark.environment import find_java, find_spark

    find_spark()
    from streamproof.replay.diff.compare import Asked, compare, found_outputs
    from streamproof.replay.diff.sides import is_remote
    from streamproof.runtime.spark.failures import telling_of_a_dead_jvm
    from streamproof.runtime.spark.run_log import passing_log
    from streamproof.runtime.spark.session import start_session

    asked = Asked(tuple(key), tolerance, newest, tuple(ignored), output, show)
    if not is_remote(a) and not is_remote(b):
        found_outputs(a, b, asked)  # what is missing is said before a JVM starts
    find_java()
    with passing_log() as log, screen.waiting("comparing") as say, telling_of_a_dead_jvm(_ONLY_READS):
        say("starting Spark")
        spark = start_session("streamproof diff", {}, log=log)
        say(f"{a} with {b}")
        return compare(spark, a, b, asked)


def _write(path: Path, found: "Diff") -> None:
    from streamproof.report.diff import page

    try:
        path.write_text(page(found), encoding="utf-8")
    except OSError as problem:
        raise ConfigurationError(f"{path} cannot be written: {problem.strerror}.") from None


def _names(text: str | None, option: str) -> list[str]:
    if text is None:
        return []
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ConfigurationError(
            f'{option} is "{text}".', required="It takes names of columns with commas between them: client,window_start."
        )
    return names
