"""From an error that stops a run to its failure: which query and batch, what that reads, where it came up, and what to do."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from streamproof.checkpoint.logs import is_initial_positions, parse_initial_positions, positions_in
from streamproof.config.secret import redact
from streamproof.core.masking import masked, shortened
from streamproof.core.paths import display
from streamproof.errors import JvmGone, StreamproofError
from streamproof.runtime.at_fault import Frame, step_of
from streamproof.runtime.watching.failure import PAGE, Failure, Read, Where

if TYPE_CHECKING:
    from streamproof.core.manifest import Fingerprint
    from streamproof.runtime.batch.protocol import BatchProtocol

_MOST_READS = 200
_MOST_FILES = 20
_OF_SPARK = ("py4j", "pyspark")


@contextmanager
def in_query(name: str, protocol: "BatchProtocol | None" = None) -> Iterator[None]:
    """Keeps of an error in which query it came up; once that runs, in which step of it, and what its batch reads, as far as that is known."""
    try:
        yield
    except StreamproofError as problem:
        with suppress(Exception):  # whatever cannot be said of an error, the error itself is
            problem.is_at(query=name)
            if protocol is not None:
                problem.is_at(step=step_of(protocol.query.root, problem.at.get("frames", ()), problem.at.get("sql", "")))
                _keep_batch(problem, protocol)
        raise


def failure_of(problem: StreamproofError, job: str) -> Failure:
    """What is around an error that has stopped a run; no password is in it, and of rows no value."""
    at = problem.at
    frames: Sequence[Frame] = at.get("frames", ())
    file, line, function = frames[-1] if frames else ("", 0, "")
    where = Where(
        step=_hidden(at.get("step", "")),
        output=at.get("output", ""),
        function=function,
        line=f"{display(Path(file))} line {line}" if file else "",
        sql=_hidden(at.get("sql", "")),
    )
    sample: Mapping[str, str] = at.get("sample", {})
    return Failure(
        job=job,
        query=at.get("query", ""),
        batch=at.get("batch"),
        reads=tuple(at.get("reads", ())),
        where=where,
        sample=sample,
        cause=_hidden(at.get("cause") or _cause(problem)),
        next=_hidden(problem.remedy or problem.required),
        page=f"{PAGE}#error-{problem.code}",
        ended=tuple(at.get("ended", ())),
    )


def keep_failure(problem: StreamproofError, failure: Failure) -> None:
    """Gives an error its failure; whoever sees its trace reads it there."""
    problem.failure = failure
    lines = [f"{word}: {said}" for word, said in failure.lines(problem.message)]
    problem.add_note("\n".join(lines))


def said_first(problem: StreamproofError) -> str:
    """What an error says first, as it may be shown everywhere."""
    return masked(redact(problem.message))


def _hidden(text: str) -> str:
    return shortened(masked(redact(text)))


def _cause(problem: BaseException) -> str:
    """The innermost error that has words of ours, and the name of what a library has raised; never its text, which may hold values of rows."""
    said, foreign = "", ""
    inner: BaseException | None = problem
    while inner is not None:
        if isinstance(inner, StreamproofError):
            said, foreign = inner.message, ""
        elif not type(inner).__module__.startswith(_OF_SPARK):
            foreign = type(inner).__name__
        inner = inner.__cause__
    return f"{said} ({foreign})" if foreign else said


def _keep_batch(problem: StreamproofError, protocol: "BatchProtocol") -> None:
    gone = isinstance(problem, JvmGone)
    logs = protocol.query.journal.logs
    batch = problem.at.get("batch", getattr(problem, "batch", None))
    if batch is None:
        batch = _under_way(protocol) if gone else _not_committed(logs.batches("offsets"), logs.batches("commits"))
    if batch is None:
        return
    problem.is_at(batch=batch)
    begun = protocol.begun
    if begun is not None and begun.batch == batch:
        problem.is_at(reads=reads_of(protocol.query.root.sources, begun.logs.fingerprint))
    elif not gone:
        problem.is_at(reads=reads_of(protocol.query.root.sources, logs.of(batch).fingerprint))


def _under_way(protocol: "BatchProtocol") -> int | None:
    """The batch that this driver works on; None between two."""
    begun = protocol.begun
    return None if begun is None or (begun.published and protocol.commits.newest is None) else begun.batch


def _not_committed(planned: Sequence[int], committed: Sequence[int]) -> int | None:
    newest = max(planned, default=-1)
    return newest if newest > max(committed, default=-1) else None


def reads_of(sources: Sequence[str], batch: "Fingerprint") -> list[Read]:
    """What a batch reads, source by source and partition by partition."""
    found: list[Read] = []
    for number, source in enumerate(sources):
        files = batch.files.get(str(number))
        if files is not None:
            names = tuple(unquote(PurePosixPath(file).name) for file in files[:_MOST_FILES])
            found.append(Read(source, files=names, of_files=len(files)))
            continue
        found += _of_topics(source, batch.starts.get(str(number), ""), batch.offsets[number])
    return found[:_MOST_READS]


def _of_topics(source: str, start: str, end: str) -> Iterator[Read]:
    ends: Mapping[str, Mapping[int, int]] = (positions_in(end) if end != "-" else None) or {}
    begins: Any = parse_initial_positions(start) if is_initial_positions(start) else positions_in(start) if start else None
    for topic, partitions in ends.items():
        for partition, offset in sorted(partitions.items()):
            yield Read(source, topic, partition, (begins or {}).get(topic, {}).get(partition), offset)
