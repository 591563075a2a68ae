"""Two runs side by side: what fails now that did not, what is mended, and where the account moved."""

from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from streamproof.core.verdict import Verdict
from streamproof.report import words
from streamproof.report.shape import AccountCounts, Report
from streamproof.report.terminal import STYLES, Lines


@dataclass(frozen=True)
class Comparison:
    """The differences between two reports; pairs are (before, after), ids in the order of the later report."""

    verdict: tuple[Verdict, Verdict]
    counts: dict[str, tuple[int, int]]
    seconds: tuple[float, float]
    new_failures: tuple[str, ...]
    fixed: tuple[str, ...]
    still_failing: tuple[str, ...]
    undecided: tuple[str, ...]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    account: dict[str, tuple[int, int]]
    worst_account: dict[str, tuple[int, int]]
    setting: dict[str, tuple[str, str]]

    @property
    def same(self) -> bool:
        """True if nothing but the time differs."""
        moved = (
            self.new_failures,
            self.fixed,
            self.undecided,
            self.added,
            self.gone,
            self.account,
            self.worst_account,
            self.setting,
        )
        return self.verdict[0] is self.verdict[1] and not any(moved)


def compare(before: Report, after: Report) -> Comparison:
    """What differs between two reports of one job; what was proved differently (seed, events, plan) is in `setting`."""
    old = {scenario["id"]: Verdict(scenario["verdict"]) for scenario in before["scenarios"]}
    new = {scenario["id"]: Verdict(scenario["verdict"]) for scenario in after["scenarios"]}
    failing = [name for name, verdict in new.items() if verdict is Verdict.FAIL]
    return Comparison(
        verdict=(Verdict(before["verdict"]), Verdict(after["verdict"])),
        counts={name: (before["counts"][name], after["counts"][name]) for name in ("pass", "fail", "unknown")},
        seconds=(before["seconds"], after["seconds"]),
        new_failures=tuple(name for name in failing if old.get(name) is not Verdict.FAIL),
        fixed=tuple(name for name, verdict in new.items() if verdict is Verdict.PASS and old.get(name) is Verdict.FAIL),
        still_failing=tuple(name for name in failing if old.get(name) is Verdict.FAIL),
        undecided=tuple(
            name for name, verdict in new.items() if verdict is Verdict.UNKNOWN and old.get(name) is not Verdict.UNKNOWN
        ),
        added=tuple(name for name in new if name not in old),
        gone=tuple(name for name in old if name not in new),
        account=_moved(before["conservation"]["fault_free"], after["conservation"]["fault_free"]),
        worst_account=_moved(before["conservation"]["worst"], after["conservation"]["worst"]),
        setting={
            name: (str(before[name]), str(after[name]))
            for name in ("job", "plan", "seed", "events", "spark_batches")
            if before[name] != after[name]
        },
    )


def _moved(before: AccountCounts, after: AccountCounts) -> dict[str, tuple[int, int]]:
    old, new = ({"input": counts["input"], **words.dict_of(counts)} for counts in (before, after))
    return {place: (old[place], new[place]) for place in old if old[place] != new[place]}


def print_comparison(found: Comparison, console: Console, *, names: tuple[str, str] = ("before", "after")) -> None:
    """Print the differences, a line each; what is the same is said in one."""
    before, after = found.verdict
    console.print(
        Text(f"{names[0]} → {names[1]}   ")
        + Text(before.upper(), style=STYLES[before])
        + Text(" → ")
        + Text(after.upper(), style=STYLES[after]),
        soft_wrap=True,
        highlight=False,
    )
    page = Lines(console)
    for name, pair in found.setting.items():
        page.line("not alike", f"{name} {pair[0]} → {pair[1]}: differences below may come from that")
    page.line("scenarios", " · ".join(f"{name} {_pair(pair)}" for name, pair in found.counts.items()))
    for label, ids in (
        ("new fails", found.new_failures),
        ("fixed", found.fixed),
        ("still fail", found.still_failing),
        ("undecided", found.undecided),
        ("only after", found.added),
        ("only before", found.gone),
    ):
        if ids:
            page.line(label, f"{words.number(len(ids))}: {words.few(ids)}")
    for label, moved in (("account", found.account), ("worst", found.worst_account)):
        page.line(
            label, " · ".join(f"{words.PLACES.get(place, place)} {_pair(pair)}" for place, pair in moved.items()) or "the same"
        )
    page.line("time", f"{words.span(found.seconds[0])} → {words.span(found.seconds[1])}")
    page.print()


def _pair(pair: tuple[int, int]) -> str:
    return words.number(pair[0]) if pair[0] == pair[1] else f"{words.number(pair[0])} → {words.number(pair[1])}"
