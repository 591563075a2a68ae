"""How a job is, in one word and one sentence, by the same limits as its alerts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from streamproof.observe.live.picture import Picture, Query

STUCK_SECONDS = 120.0
"""A batch is stuck at the earliest then, and where it takes ten times as long as the last ones."""
FIRST_STUCK_SECONDS = 1_800.0
"""A batch is stuck then if no batch before it is known."""
BEHIND_SECONDS = 300.0
"""How much of its input, in time, a query may have left to read."""


class Word(StrEnum):
    """How a job is."""

    STARTING = "starting"
    HEALTHY = "healthy"
    BEHIND = "behind"
    STUCK = "stuck"
    ENDED = "ended"
    STOPPED = "stopped"


_WORST_FIRST = (Word.STOPPED, Word.STUCK, Word.BEHIND)


@dataclass(frozen=True)
class Standing:
    """A word, one sentence why, and since when the word holds, by the steady clock."""

    word: Word
    why: str
    since: float


def standing(picture: Picture, now: float, before: Standing | None = None) -> Standing:
    """How the job is now; `before` is what was said last, whose time goes on where the word is the same."""
    word, why = _judged(picture, now)
    since = before.since if before is not None and before.word is word else _since(picture, word, now)
    return Standing(word, why, since)


def _since(picture: Picture, word: Word, now: float) -> float:
    if picture.ended is not None:
        return picture.ended.at.steady
    return picture.began.steady if word is Word.STARTING else now


def _judged(picture: Picture, now: float) -> tuple[Word, str]:
    ended = picture.ended
    if ended is not None and ended.error is not None:
        return Word.STOPPED, f"An error has stopped the run: {ended.message}"
    died = [query for query in picture.queries.values() if query.doing == "died"]
    if died:
        return Word.STOPPED, _died(
            died, [query for query in picture.queries.values() if query.doing == "running" and ended is None]
        )
    wrong = [query for query in picture.queries.values() if query.account is not None and not query.account.adds_up]
    if ended is not None:
        if wrong and wrong[0].account is not None and wrong[0].account.unknown_since is None:
            return Word.STOPPED, f"The account of {wrong[0].name} does not add up."
        return Word.ENDED, "The run was asked to end." if ended.asked else "The run has read everything, and has ended."
    found = [each for query in picture.queries.values() for each in _of(query, now)]
    for word in _WORST_FIRST:
        said = [why for each, why in found if each is word]
        if said:
            return word, said[0] if len(said) == 1 else f"{said[0]} And {len(said) - 1} more."
    running = [query for query in picture.queries.values() if query.doing != "starting"]
    if not running:
        return Word.STARTING, _capital(picture.doing) or "The job starts."
    if all(query.plain is not None for query in running):
        return _plain(running)
    doing = {query.doing for query in running}
    if doing <= {"finishing", "ended"}:
        return Word.HEALTHY, "Everything is read; what is left is published."
    if not any(query.done.committed for query in running):
        return Word.HEALTHY, "The queries run; no batch is committed yet."
    return Word.HEALTHY, "Batches are committed, and no output waits."


def _died(died: Sequence[Query], living: Sequence[Query]) -> str:
    """What has died, and what goes on: of a plain PySpark job the others do, of a job of ours they are ended."""
    ours = [query.name for query in died if query.plain is None]
    if ours:
        return f"An error has ended {ours[0]}. The other queries are ended after their batch, and then the run."
    what = " and ".join(f"{query.name} of {query.plain.error if query.plain else ''}" for query in died)
    others = f" {' and '.join(query.name for query in living)} {'goes' if len(living) == 1 else 'go'} on." if living else ""
    return f"A query has died: {what}.{others}" if len(died) == 1 else f"{len(died)} queries have died: {what}.{others}"


def _plain(running: Sequence[Query]) -> tuple[Word, str]:
    """How a plain PySpark job is, as far as Spark tells, where nothing is wrong."""
    if all(query.doing == "ended" for query in running):
        return Word.ENDED, "All queries have ended."
    if not any(query.done.committed for query in running):
        return Word.HEALTHY, "The queries run; Spark has not told of a batch yet."
    return Word.HEALTHY, "Batches are committed. Of a plain PySpark job Spark does not tell where each record is."


def _of(query: Query, now: float) -> Iterator[tuple[Word, str]]:
    """What is not well with a query."""
    silent = query.plain.silent_seconds(now) if query.plain is not None and query.doing == "running" else None
    if silent is not None:
        yield Word.STUCK, f"Spark has said nothing of {query.name} for {silent:.0f} s: a batch takes long, or hangs."
    under_way = query.done.under_way
    if under_way is not None:
        usual = usual_seconds(query)
        lasts, bound = now - under_way.since, max(STUCK_SECONDS, 10 * usual) if usual is not None else FIRST_STUCK_SECONDS
        if lasts > bound:
            took = "" if usual is None else f", and the last ones took {usual:.1f} s"
            yield Word.STUCK, f"Batch {under_way.number} of {query.name} is in the phase {under_way.phase} for {lasts:.0f} s{took}."
    for output, waits in query.outputs.waiting.items():
        batches = "1 batch waits" if waits.batches == 1 else f"{waits.batches:,} batches wait"
        yield Word.BEHIND, f"{batches} for {output}, whose store does not answer; nothing is lost."
    rate = input_per_second(query)
    for topic in query.topics:
        grows = len(topic.sums) > 1 and topic.lag > topic.sums[0].lag
        if grows and rate and topic.lag > BEHIND_SECONDS * rate:
            yield (
                Word.BEHIND,
                f"{query.name} falls back on {topic.name}: {topic.lag:,} records are left to read, and they become more.",
            )


def usual_seconds(query: Query) -> float | None:
    """How long the last batches took on the average; None where Spark has not told it of any."""
    told = [batch.total_ms for batch in query.done.batches if batch.total_ms is not None]
    return sum(told) / len(told) / 1_000 if told else None


def input_per_second(query: Query) -> float | None:
    """Records that the last batches have read per second; None where there are too few."""
    batches = query.done.batches
    if len(batches) < 2:
        return None
    seconds = batches[-1].at.steady - batches[0].at.steady
    return sum(batch.input for batch in batches[1:]) / seconds if seconds > 0 else None


def seconds_to_catch_up(sums: Mapping[float, int]) -> float | None:
    """When the lag is 0 at the pace of the given sums, by their times; None where it does not shrink."""
    if len(sums) < 2:
        return None
    first, last = min(sums), max(sums)
    pace = (sums[first] - sums[last]) / (last - first)
    return sums[last] / pace if pace > 0 else None


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
