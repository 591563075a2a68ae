"""`streamproof inspect CHECKPOINT`: what is in a checkpoint, of a job of ours or of any other program."""

import csv
import errno
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamproof.cli import screen
from streamproof.core.exact_json import json_text
from streamproof.errors import ConfigurationError, DiskFull, StreamproofError

if TYPE_CHECKING:
    from streamproof.checkpoint.inspection import Inspection
    from streamproof.inspection import Checkpoint, StateTable

EXAMPLES = """\b
Examples:
  streamproof inspect checkpoints/my_job/exposure
  streamproof inspect checkpoints/my_job/exposure --operator 0 --where "client = 'c17'"
  streamproof inspect /data/checkpoints/clicks --operator 1 --batch 40 --parquet keys.parquet
  streamproof inspect /data/checkpoints/clicks --verify
  streamproof inspect /data/checkpoints/clicks --json

\b
What it reads:
  the checkpoint of one query, of Spark 3.5 to 4.3, whoever wrote it: of a stopped job, or a copy of a running one's.
  Nothing is changed. Spark starts only with --operator and --rows.

\b
Exit codes:
  0  done      1  --verify has found damage      2  wrong usage, or no checkpoint      75  start it again: the JVM died
"""
_SHOWN = 20
_WRONG = 2
_ONLY_READS = "The checkpoint is as it was: inspect only reads."


def inspect(
    checkpoint: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="The folder of one query.")],
    operator: Annotated[int | None, typer.Option(metavar="N", help="Show the state of operator N as a table.")] = None,
    variable: Annotated[
        str | None, typer.Option(metavar="NAME", help='One variable of transformWithState, or "timers", with its own columns.')
    ] = None,
    where: Annotated[str | None, typer.Option(metavar="SQL", help="Only rows that fulfil this: \"client = 'c17'\".")] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help=f"At most N rows; {_SHOWN} on the screen without it, else all."),
    ] = None,
    batch: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="The state after batch N; without it after the newest.")
    ] = None,
    count_rows: Annotated[bool, typer.Option("--rows", help="Count the rows of each operator and partition, by Spark.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Look for files that are torn, missing, swapped, foreign or in a gap.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
    as_csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the rows of --operator as CSV.")] = None,
    as_parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", help="Write the rows of --operator as Parquet.")
    ] = None,
) -> int:
    """Show what is in a checkpoint: offsets, watermarks, batches, settings, the size of its state, and the state itself."""
    rows = {"--variable": variable, "--where": where, "--limit": limit, "--batch": batch, "--csv": as_csv, "--parquet": as_parquet}
    _require_operator(operator, rows)
    try:
        from streamproof.inspection import inspect as look

        found = look(checkpoint)
        if verify:
            return _verify(found, as_json=as_json)
        if operator is None:
            _summary(found, count_rows=count_rows, as_json=as_json)
            return 0
        table = found.operator(operator, batch=batch, variable=variable)
        table = table if where is None else table.where(where)
        table.require_readable()
        if as_csv is not None or as_parquet is not None:
            _write(table, as_csv, as_parquet, limit)
        else:
            _show(table, limit, as_json=as_json)
    except StreamproofError as problem:
        if problem.exit_code != 1:
            raise
        screen.print_error(problem)  # 1 says that --verify has found damage
        return _WRONG
    return 0


def _show(table: "StateTable", limit: int | None, *, as_json: bool) -> None:
    if as_json:
        with _spark(table.found, f"operator {table.of.number}") as end_waiting:
            _print_json(table, limit, end_waiting)
        return
    with _spark(table.found, f"operator {table.of.number}"):
        columns, rows = table.columns_and_rows(_SHOWN + 1 if limit is None else limit)
    from streamproof.report.state_table import print_table

    print_table(table.found, table.of, table.batch, columns, rows, _SHOWN if limit is None else limit, screen.console())


def _write(table: "StateTable", as_csv: Path | None, as_parquet: Path | None, limit: int | None) -> None:
    asked = [(path, write) for path, write in ((as_csv, _write_csv), (as_parquet, _write_parquet)) if path is not None]
    for path, _ in asked:
        _require_place(path)
    with _spark(table.found, f"operator {table.of.number}"):
        written = [(path, write(table, path, limit)) for path, write in asked]
    for path, count in written:
        screen.console().print(f"{path}   {count:,} row{'' if count == 1 else 's'}")


def _verify(found: "Checkpoint", *, as_json: bool) -> int:
    from streamproof.report.verified import print_verified

    with screen.waiting("verifying") as say:
        verified = found.verify(say)
    if as_json:
        screen.console().print(json.dumps({"path": str(found.found.path), **verified.as_dict()}, indent=2))
    else:
        print_verified(found.found, verified, screen.console())
    return 0 if verified.is_sound else 1


def _summary(found: "Checkpoint", *, count_rows: bool, as_json: bool) -> None:
    counted: dict[int, dict[int, int]] = {}
    if count_rows and found.operators:
        for number in found.operators:
            found.operator(number).require_readable()
        with _spark(found.found, "rows"):
            counted = {number: found.operator(number).by_partition() for number in found.operators}
    if as_json:
        told = found.as_dict()
        for operator in told["operators"]:
            if operator["operator"] in counted:
                operator["rows_by_partition"] = {str(partition): rows for partition, rows in counted[operator["operator"]].items()}
        screen.console().print(json.dumps(told, indent=2))
        return
    from streamproof.core.clock import now_utc
    from streamproof.report.inspect import print_inspection

    print_inspection(found.found, screen.console(), now_utc(), counted)


@contextmanager
def _spark(found: "Inspection", what: str) -> Iterator[Callable[[], None]]:
    """While Spark reads: it is there, its log goes to a file, and the screen says what is being done, until what is given here is called."""
    from streamproof.runtime.spark.environment import find_java, find_spark_of_plain_jobs

    find_spark_of_plain_jobs()
    find_java()
    from streamproof.runtime.spark.failures import telling_of_a_dead_jvm
    from streamproof.runtime.spark.run_log import passing_log
    from streamproof.runtime.spark.state_reader import start_reader

    with passing_log() as log, ExitStack() as shown, telling_of_a_dead_jvm(_ONLY_READS):
        say = shown.enter_context(screen.waiting("reading state"))
        say("starting Spark")
        start_reader(log)
        say(f"{what} of {found.path}")
        yield shown.close


def _require_operator(operator: int | None, given: Mapping[str, object]) -> None:
    named = [name for name, value in given.items() if value is not None]
    if operator is None and named:
        raise ConfigurationError(
            f"{named[0]} is about the rows of a state.",
            required="It needs --operator N.",
            remedy="Without both, inspect shows which operators there are.",
        )


def _require_place(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"{path} cannot be written: there is no folder {path.parent}.")


def _write_csv(table: "StateTable", path: Path, limit: int | None) -> int:
    count = 0
    with (
        table.one_by_one(limit) as (columns, rows),
        _writing(path) as partial,
        partial.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(columns)
        for count, row in enumerate(rows, start=1):  # noqa: B007 -- how many there were
            writer.writerow([_cell(row[name]) for name in columns])
    return count


def _write_parquet(table: "StateTable", path: Path, limit: int | None) -> int:
    with _writing(path) as partial:
        return table.write_parquet(partial, limit)


@contextmanager
def _writing(path: Path) -> Iterator[Path]:
    """A file beside the one that is asked for, which takes its place once it is whole: what was there before stays where that fails."""
    target = path.resolve()
    partial = target.with_name(f".{target.name}.partial") if target.is_file() or not target.exists() else target
    try:
        yield partial
        if partial != target:
            partial.replace(target)
    except OSError as problem:
        if problem.errno == errno.ENOSPC:
            raise DiskFull(f"{path} cannot be written: the disk is full.", remedy="Make room, or name a file elsewhere.") from None
        raise ConfigurationError(f"{path} cannot be written: {problem.strerror or problem}.") from None
    finally:
        if partial != target:
            partial.unlink(missing_ok=True)


def _cell(value: Any) -> Any:
    if isinstance(value, dict | list):
        return json_text(value)
    return f"{value:f}" if isinstance(value, Decimal) else value


def _print_json(table: "StateTable", limit: int | None, begin: Callable[[], None] = lambda: None) -> None:
    """One JSON object, of whose rows each stands on a line: however many there are, few are in memory. `begin` is called before the first."""
    about = {
        "path": str(table.found.path),
        "operator": table.of.number,
        "name": table.of.name,
        "batch": table.batch if table.batch is not None else table.found.logs.newest_committed,
    }
    with table.one_by_one(limit) as (columns, rows):
        first = next(rows, None)
        begin()
        out = screen.console().file
        out.write(f'{json.dumps({**about, "columns": columns}, indent=2)[:-2]},\n  "rows": [')
        separator = "\n    "
        for row in () if first is None else chain([first], rows):
            out.write(f"{separator}{json_text(row)}")
            separator = ",\n    "
        out.write("]\n}\n" if first is None else "\n  ]\n}\n")
