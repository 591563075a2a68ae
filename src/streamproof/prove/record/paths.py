"""What each file of a scenario's folder is: the one table from paths to steps."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamproof.core.phases import Phase

_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TEMPORARY = re.compile(rf"^\.(?P<final>.+?)(?:\.{_UUID})?(?:\.TID\d+)?\.tmp$")
_COMMITTER = re.compile(r"/(?:_temporary|\.spark-staging-[^/]+)(?:/0)?(?:/_temporary)?(?:/(?:attempt|task)_[^/]+)?(?=/|$)")
_RANDOM = re.compile(
    rf"(?P<run_of>/(?:_staging|parked|side/[^/]+|staging/[^/]+)/\d+-)(?P<run>[^/]+)|(?P<table>\d{{6}}-{_UUID})|(?P<id>{_UUID})"
    r"|(?P<attempt_of>-\d+-)(?P<attempt>\d+)(?=\.jsonl$)"
)
_OPEN = {"run": "[^/]+", "table": rf"\d{{6}}-{_UUID}", "id": _UUID, "attempt": r"\d+"}


@dataclass(frozen=True)
class Layout:
    """Where a scenario's folder keeps what; all paths relative to it.

    Parameters
    ----------
    checkpoints
        Query name to its `checkpointLocation`. Step names carry the query only where there are several.
    outputs
        Output name to the sink's path.
    owners
        Output name to the query that writes it; needed where there are several queries.
    copies
        The outputs that are one of several sinks of one: they copy what is staged in the folder of the one, "exposure" of
        "exposure.files".
    """

    checkpoints: Mapping[str, str]
    outputs: Mapping[str, str] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Row:
    """One line of the table: a pattern over the path below the checkpoint or the output, and what it stands for.

    Named groups fill the kind; `batch` is the batch, `version` a state version (the batch plus one).
    """

    pattern: str
    phase: Phase
    kind: str


CHECKPOINT = (
    Row(r"metadata", Phase.START, "metadata"),
    Row(r"_streamproof/incarnation\.json", Phase.START, "incarnation"),
    Row(r"sources/(?P<source>[^/]+)/(?P<batch>\d+)(\.compact)?", Phase.PLAN, "source.{source}"),
    Row(r"offsets/(?P<batch>\d+)", Phase.PLAN, "offsets"),
    Row(r"state/(?P<operator>\d+)/_metadata/.+", Phase.WORK, "operator.{operator}"),
    Row(r"state/(?P<operator>\d+)/(\d+/([^/]+/)?_metadata|_stateSchema)/.+", Phase.WORK, "schema.{operator}"),
    Row(
        r"state/(?P<operator>\d+)/(?P<partition>\d+)/(?P<store>[^/]+/)?SSTs/[^/]+", Phase.WORK, "sst.{operator}.{partition}{store}"
    ),
    Row(
        r"state/(?P<operator>\d+)/(?P<partition>\d+)/(?P<store>[^/]+/)?logs/[^/]+", Phase.WORK, "log.{operator}.{partition}{store}"
    ),
    Row(
        r"state/(?P<operator>\d+)/(?P<partition>\d+)/(?P<store>[^/]+/)?(?P<version>\d+)(_[^/]+)?\.(zip|changelog|delta|snapshot)",
        Phase.WORK,
        "state.{operator}.{partition}{store}",
    ),
    Row(
        r"_streamproof/side/(?P<output>[^/]+)/(?P<batch>\d+)-[^/]+/(?:[^/]*-)?(?P<partition>\d+)-\d+\.jsonl",
        Phase.WORK,
        "side.{output}.{partition}",
    ),
    Row(
        r"_streamproof/(?P<output>parked)/(?P<batch>\d+)-[^/]+/(?:[^/]*-)?(?P<partition>\d+)-\d+\.jsonl",
        Phase.WORK,
        "{output}.{partition}",
    ),
    Row(r"_streamproof/(?P<output>parked)(/(?P<batch>\d+)-[^/]+(/.+)?)?", Phase.STAGE, "{output}"),
    Row(r"_streamproof/side/(?P<output>[^/]+)(/(?P<batch>\d+)-[^/]+)?", Phase.WORK, "side.{output}"),
    Row(r"_streamproof/staging/(?P<output>[^/]+)/(?P<batch>\d+)-[^/]+(/.+)?", Phase.STAGE, "{output}"),
    Row(r"_streamproof/tables/_pinned/(?P<batch>\d+)", Phase.PLAN, "tables"),
    Row(r"_streamproof/tables/(?P<output>[^/]+)/_staging/(?P<batch>\d+)-[^/]+(/.+)?", Phase.PLAN, "table.{output}"),
    Row(r"_streamproof/tables/(?P<output>[^/]+)(/.+)?", Phase.PLAN, "table.{output}"),
    Row(r"_streamproof/manifests/(?P<batch>\d+)", Phase.STAGE, "manifest"),
    Row(r"commits/(?P<batch>\d+)", Phase.COMMIT, "commits"),
)
OUTPUT = (
    Row(r"_staging/(?P<batch>\d+)-[^/]+/_ledger\.json", Phase.PUBLISH, "{output}.ledger"),
    Row(r"batch=(?P<batch>\d+)/_ledger\.json", Phase.PUBLISH, "{output}.ledger"),
    Row(r"_staging/(?P<batch>\d+)-[^/]+/(?:[^/]*-)?(?P<partition>\d+)-\d+\.jsonl", Phase.WORK, "side.{output}.{partition}"),
    Row(r"_staging(/(?P<batch>\d+)-[^/]+(/.+)?)?", Phase.STAGE, "{output}"),
    Row(r"batch=(?P<batch>\d+)(/.+)?", Phase.PUBLISH, "{output}"),
    Row(r"(.+/)?_delta_log/.+", Phase.PUBLISH, "{output}.log"),
    Row(r"_spark_metadata/(?P<batch>\d+)(\.compact)?", Phase.PUBLISH, "{output}.log"),
    Row(r".+", Phase.PUBLISH, "{output}"),
)
COPY = (
    Row(r"_staging/(?P<batch>\d+)-[^/]+/_ledger\.json", Phase.PUBLISH, "{output}.ledger"),
    Row(r"_staging(/(?P<batch>\d+)-[^/]+(/.+)?)?", Phase.PUBLISH, "{output}.copy"),
    *OUTPUT,
)
_COMPILED = {row: re.compile(row.pattern) for row in (*CHECKPOINT, *COPY)}


@dataclass(frozen=True)
class Place:
    """What a path is: phase and kind of the step that makes it, its batch where the path says so, and whose it is.

    `family` is the part of the job that writes it (a stateful operator, an output), `partition` the state or side partition.
    `known` is False for a path that no row names.
    """

    phase: Phase
    kind: str
    batch: int | None = None
    query: str | None = None
    family: str = ""
    partition: int | None = None
    known: bool = True


def temporary(path: str) -> bool:
    """True for a file or directory that no reader looks at and a crash may leave: hidden files, and those of Spark's committers."""
    name = path.rpartition("/")[2]
    return name.startswith(".") or name.endswith(".tmp") or "/_temporary" in f"/{path}" or "/.spark-staging-" in f"/{path}"


def final(path: str) -> str:
    """The path that a temporary one becomes: without the committer's directories, the leading dot, the random id and `.tmp`."""
    path = _COMMITTER.sub("", path)
    folder, slash, name = path.rpartition("/")
    found = _TEMPORARY.match(name)
    return folder + slash + found["final"] if found else path


def place(path: str, layout: Layout) -> Place:
    """What `path` is, or would become if it is temporary."""
    path = final(path)
    many = len(layout.checkpoints) > 1
    for query, checkpoint in layout.checkpoints.items():
        rest = _below(path, checkpoint)
        if rest is not None:
            return _match(CHECKPOINT, rest, query if many else None) or _other(path, query if many else None)
    for output, folder in layout.outputs.items():
        rest = _below(path, folder)
        if rest is not None:
            query_of_output = layout.owners.get(output) if many else None
            rows = COPY if output in layout.copies else OUTPUT
            return _match(rows, rest, query_of_output, output) or _other(path, query_of_output)
    return _other(path, None)


def pattern(path: str) -> str:
    """A regular expression (the same in Java and Python) that finds the same file in another run: random parts left open."""
    whole = f"/{path}"
    parts: list[str] = []
    done = 0
    for found in _RANDOM.finditer(whole):
        kept = found["run_of"] or found["attempt_of"] or ""
        parts.append(re.escape(whole[done : found.start()] + kept))
        parts.append(_OPEN[str(found.lastgroup)])
        done = found.end()
    return "".join(parts) + re.escape(whole[done:]) + "$"


def _below(path: str, folder: str) -> str | None:
    folder = folder.strip("/")
    if path == folder:
        return ""
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None


def _match(rows: tuple[Row, ...], rest: str, query: str | None, output: str | None = None) -> Place | None:
    checksum = rest.endswith(".crc")
    rest = rest.removesuffix(".crc")
    for row in rows:
        found = _COMPILED[row].fullmatch(rest)
        if found is None:
            continue
        groups = {key: value or "" for key, value in found.groupdict().items()}
        if groups.get("store"):
            groups["store"] = "." + groups["store"].rstrip("/")
        if groups.get("partition"):
            groups["partition"] = str(int(groups["partition"]))
        if output is not None:
            groups["output"] = output
        batch = int(groups["batch"]) if groups.get("batch") else None
        if groups.get("version"):
            batch = max(int(groups["version"]) - 1, 0)
        if row.phase is Phase.START:
            batch = 0
        kind = row.kind.format(**groups)
        return Place(
            phase=row.phase,
            kind=f"checksum.{kind}" if checksum else kind,
            batch=batch,
            query=query,
            family="state." + groups["operator"] if "operator" in groups else groups.get("output", ""),
            partition=int(groups["partition"]) if groups.get("partition") else None,
        )
    return None


def _other(path: str, query: str | None) -> Place:
    name = re.sub(r"[@#:/]", "_", re.sub(_UUID, "id", path.rpartition("/")[2]))
    return Place(phase=Phase.MAINTENANCE, kind=f"other.{name}", query=query, known=False)
