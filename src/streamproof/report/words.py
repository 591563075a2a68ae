"""How a report speaks: numbers, times and names as people read them; shared by terminal, page and JUnit."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from streamproof.core import account as of_records
from streamproof.core.account import Account
from streamproof.core.clock import from_micros
from streamproof.report.shape import AccountCounts, Report

PLACES = {name: place.word for name, place in of_records.PLACES.items()}
WHAT_A_PASS_MEANS = "these events, these crash points, this file system; not your cluster"
READ_WHAT_A_PASS_MEANS = "docs/what-a-pass-means.md"

# Everything XML 1.0 and a terminal must not be given as it is: C0 and C1 controls but tab and newline, surrogates, non-characters.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def number(count: int) -> str:
    """47912 is "47,912"."""
    return f"{count:,}"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """(1, "scenario") is "1 scenario", (277, "scenario") is "277 scenarios", (2, "try", "tries") is "2 tries"."""
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {plural or f'{noun}s'}"


def span(seconds: float) -> str:
    """A wall time: 0.42 is "0.4 s", 221 is "3 min 41 s", 3720 is "1 h 2 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def instant(micros: int) -> str:
    """Microseconds since 1970 as "09:01:12.500", UTC; whole seconds without the fraction; "out of range" beyond the year 9999."""
    try:
        return _clock_time(from_micros(micros))
    except (ValueError, OverflowError, OSError):
        return "out of range"


def watermark(text: str | None) -> str:
    """An ISO watermark as "09:01:00"; null is "none yet"; what is no ISO time stays as it is."""
    if text is None:
        return "none yet"
    try:
        return _clock_time(datetime.fromisoformat(text))
    except ValueError:
        return text


def _clock_time(moment: datetime) -> str:
    text = moment.strftime("%H:%M:%S")
    return f"{text}.{moment.microsecond // 1000:03d}" if moment.microsecond else text


def noun(report: Report) -> str:
    """What one event is called: "trade"; "event" where the report does not say."""
    return report.get("noun") or "event"


def subject(report: Report) -> str:
    """What was proved, in one line: "risk_exposure · 50,000 trades · seed 7 · 12 batches · Spark 4.3.0 on local[2]"."""
    environment = report["environment"]
    spark = f"Spark {environment['spark']} on {environment['master']}" if environment["spark"] else ""
    batches = f"{report['spark_batches']} batch{'' if report['spark_batches'] == 1 else 'es'}" if report["spark_batches"] else ""
    return " · ".join(
        part for part in (report["job"], counted(report["events"], noun(report)), f"seed {report['seed']}", batches, spark) if part
    )


def plan_name(report: Report) -> str:
    """ "quick plan", "standard plan", "full plan" or "part of the plan"."""
    return "part of the plan" if report["plan"] == "part" else f"{report['plan']} plan"


def account(counts: AccountCounts) -> list[str]:
    """The places as ["emitted 47,912", "open 1,020", ...], in the order of the account."""
    found = dict_of(counts)
    return [f"{PLACES[place]} {number(found[place])}" for place in of_records.shown(found)]


def imbalance(counts: AccountCounts) -> int:
    """How many records are counted too often (positive) or are missing (negative)."""
    return Account.of(dict_of(counts)).total - counts["input"]


def imbalance_in_words(counts: AccountCounts) -> str:
    """ "", or "1 too many: 50,001 places for 50,000 records", or "3 missing: ..."."""
    over = imbalance(counts)
    if not over:
        return ""
    total = Account.of(dict_of(counts)).total
    of = "pairs of a record and a window or joined row" if counts.get("expanded") else "records"
    return f"{number(abs(over))} {'too many' if over > 0 else 'missing'}: {number(total)} places for {number(counts['input'])} {of}"


def of_first_query(report: Report) -> int:
    """How many events the query has whose account is shown: all, but where a job has several sources."""
    counts = report["conservation"]["fault_free"]
    read = counts["input"] - counts.get("expanded", 0)
    return min(read, report["events"]) or report["events"]


def in_windows(report: Report) -> str:
    """ "400 trades are in 1,579 windows, counted one by one"; nothing where each record counts once."""
    counts = report["conservation"]["fault_free"]
    if not counts.get("expanded"):
        return ""
    return f"a {noun(report)} counts once for each window or joined row that it is in, {number(counts['input'])} times in all"


def dict_of(counts: AccountCounts) -> dict[str, int]:
    found: Mapping[str, Any] = counts
    return {place: int(found.get(place, 0)) for place in PLACES}


def few(names: Iterable[str], limit: int = 5) -> str:
    """The first names and how many more: "a, b, c, d, e and 6 more"."""
    found = list(names)
    shown = ", ".join(found[:limit])
    return shown if len(found) <= limit else f"{shown} and {number(len(found) - limit)} more"


def printable(text: str) -> str:
    r"""The text with control characters spelled out (ESC is `\x1b`): safe in a terminal and in XML."""
    return _UNPRINTABLE.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
