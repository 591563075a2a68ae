"""What `prove` takes of a plain PySpark job: the words of its options, and what they name."""

from typing import Annotated

import typer

Service = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=URL]",
        help="Use a running service (kafka, postgres, redis, registry) instead of starting one. Plain PySpark: NAME alone starts it for the "
        "proof; each scenario has a place of its own there, {postgres}, {redis} or {kafka} and {kafka.topic:NAME}. Repeatable.",
    ),
]
Sample = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=FILE",
        help="Plain PySpark: a sample of the input NAME (JSON lines, CSV, .log, Parquet, Avro); a stream parameter, or what readStream names. "
        "kafka:FILE gives a parameter Kafka's columns.",
    ),
]
Schema = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=DDL",
        help='Plain PySpark: the types of an input, such as clicks="user string, at timestamp"; or a file with DDL or Spark\'s JSON of a schema.',
    ),
]
Table = Annotated[
    list[str] | None, typer.Option(metavar="NAME=FILE", help="Plain PySpark: a table for a parameter of the function.")
]
Value = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Plain PySpark: an argument of the function; {folder} is a folder of the scenario's own, {postgres} its database (--service).",
    ),
]
Argument = Annotated[list[str] | None, typer.Option(metavar="WORD", help="Plain PySpark: a word of a script's command line.")]
Environment = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Plain PySpark: an environment variable; {folder} as for --set."),
]
Conf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Plain PySpark: a setting that Spark starts with, as for spark-submit: spark.jars.packages, spark.sql.extensions, a catalog.",
    ),
]
Mode = Annotated[
    list[str] | None,
    typer.Option(metavar="OUTPUT=MODE", help="Plain PySpark: append, update or complete, for a DataFrame returned."),
]
Read = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=MODULE:FUNCTION", help="Plain PySpark: reads back what foreachBatch writes by itself."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="OUTPUT.COLUMN",
        help="Plain PySpark: leave out a column that differs from run to run on purpose, such as out.loaded_at. Repeatable.",
    ),
]
Expect = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT",
        help="Plain PySpark: let be what is known, by name: late=N rows of its own that Spark drops as late; unbounded-state. Repeatable.",
    ),
]
AsIs = Annotated[
    bool, typer.Option("--as-is", help="Plain PySpark: take the sample as it is, without disorder, late events and copies.")
]
ShowValues = Annotated[bool, typer.Option("--show-values", help="Plain PySpark: let values of rows stand in reports.")]


def pairs(option: str, words: list[str] | None) -> dict[str, str]:
    """Words such as NAME=VALUE, by name.

    Raises
    ------
    typer.BadParameter
        If one has no "=" in it.
    """
    found = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{option} {word} has no name: it is written {option} NAME=...")
        found[name] = value
    return found


def services(words: list[str] | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Those that are started for a plain job, by their names, and those that run already, with their URLs."""
    given = [word for word in words or () if "=" in word]
    started = tuple(word for word in words or () if "=" not in word)
    if started and given:
        raise typer.BadParameter(
            f"--service {started[0]} starts one for a plain PySpark job, --service {given[0]} names one that runs for a job of Streamproof's: "
            "one kind at a time."
        )
    return started, pairs("--service", given)
