"""Runs the queries of Nexmark: compares the rows of both sides, then measures them. `python -m benchmarks.nexmark --help`."""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.nexmark.batch_costs import costs_of
from benchmarks.nexmark.comparing import compared
from benchmarks.nexmark.generator import CYCLE, Sample, events_of, written
from benchmarks.nexmark.measuring import LIMIT, MEAN_LIMIT, mean_and_worst, measured, pairs_here, session
from benchmarks.nexmark.page import drawn
from benchmarks.nexmark.queries import NOT_SAID, QUERIES
from benchmarks.time_per_event import BATCHES, FILES, PAIRS, PROCESSES, of_processes

COMPARED = Sample(events=40_000, events_per_second=100, out_of_order=17_011)
"""Nearly three minutes come out of order, over three batches: some events are late."""
KEPT = Path(__file__).with_name("found.json")
"""What was found of each query, of this call and of earlier ones; the page is drawn from it, and it is kept with the code: a call for one
query does not take the others from the page."""


def main() -> None:
    asked = argparse.ArgumentParser(
        prog="python -m benchmarks.nexmark", description="Nexmark: our jobs against hand-written PySpark."
    )
    asked.add_argument("queries", nargs="*", metavar="QUERY", help=f"{', '.join(QUERIES)}; all without one")
    asked.add_argument("--events", type=_events, help="how many are generated to measure; by default as many as a query needs")
    asked.add_argument("--compared-events", type=_events, default=COMPARED.events, help="how many are generated to compare rows")
    asked.add_argument("--processes", type=int, default=PROCESSES)
    asked.add_argument("--pairs", type=int, default=PAIRS, help="pairs in each process, after a first one that is left aside")
    asked.add_argument("--compare", action="store_true", help="compare rows only")
    asked.add_argument("--measure", action="store_true", help="measure only")
    asked.add_argument(
        "--batches",
        action="store_true",
        help="say where the time of a batch goes, with few events and with many; no rows are compared",
    )
    asked.add_argument("--write", type=Path, metavar="PAGE", help="draw the tables of this page, of all that was found so far")
    asked.add_argument("--here", type=Path, help=argparse.SUPPRESS)  # one of the processes, with the folder of the samples
    wanted = asked.parse_args()
    names = _known(wanted.queries)
    if wanted.here is not None:
        print(json.dumps(pairs_here(wanted.here, QUERIES[names[0]], wanted.events, wanted.pairs)))
        return
    found: dict[str, dict[str, Any]] = json.loads(KEPT.read_text()) if KEPT.is_file() else {}
    with tempfile.TemporaryDirectory() as base:
        if wanted.batches:
            _say_costs(names, Path(base))
            return
        if not wanted.measure:
            _compare(names, wanted.compared_events, Path(base), found)
        if not wanted.compare:
            _measure(names, wanted, Path(base), found)
    if wanted.write is not None:
        wanted.write.write_text(drawn(wanted.write.read_text(encoding="utf-8"), found), encoding="utf-8")
    different = [name for name in names if found[name].get("differences")]
    if different:
        sys.exit(f"error  Rows differ: {', '.join(different)}.")


def _known(asked: Sequence[str]) -> list[str]:
    for name in asked:
        if name in NOT_SAID:
            sys.exit(f"error  {name} is not said. {NOT_SAID[name].reason}")
        if name not in QUERIES:
            sys.exit(f"error  No query is called {name}; there are {', '.join(QUERIES)}.")
    return [name for name in QUERIES if not asked or name in asked]


def _events(text: str) -> int:
    whole = CYCLE * BATCHES * FILES
    number = int(text)
    if number <= 0 or number % whole:
        raise argparse.ArgumentTypeError(
            f"{number} is no multiple of {whole}: {BATCHES * FILES} files of whole cycles of {CYCLE} events"
        )
    return number


def _compare(names: Sequence[str], events: int, base: Path, found: dict[str, dict[str, Any]]) -> None:
    spark = session()
    source = written(spark, base / "compared", replace(COMPARED, events=events), batches=BATCHES, files_per_batch=FILES)
    for name in names:
        one = compared(spark, source, QUERIES[name])
        said = "; ".join(one.differences) or "equal on both sides"
        model = "not said by the model" if one.unlike_model is None else "; ".join(one.unlike_model) or "equal in the model"
        print(f"{name:4} {one.rows:9,} rows  {said}, {model}; late {one.account['late']:,}", flush=True)
        _keep(
            found,
            name,
            {"rows": one.rows, "differences": [*one.differences, *(one.unlike_model or ())], "model": one.unlike_model is not None},
        )
    spark.stop()


def _measure(names: Sequence[str], wanted: argparse.Namespace, base: Path, found: dict[str, dict[str, Any]]) -> None:
    for name in names:
        query = QUERIES[name]
        events = wanted.events or query.events
        words = [name, "--events", str(events), "--pairs", str(wanted.pairs), "--here", str(base)]
        one = measured(of_processes("nexmark", words, wanted.processes), events_of(query.reads, events))
        print(
            f"{name:4} ratio {one.ratio:.3f}, half of the pairs {one.low:.2f} to {one.high:.2f}; "
            f"{one.ours_ns:,.0f} ns against {one.by_hand_ns:,.0f} ns an event, {one.events:,} events read",
            flush=True,
        )
        _keep(found, name, dict(one.as_dict()))
    ratios = {name: found[name]["ratio"] for name in names}
    mean, worst = mean_and_worst(ratios)
    print(f"geometric mean {mean:.3f} (at most {MEAN_LIMIT}), worst {worst} {ratios[worst]:.3f} (at most {LIMIT})", flush=True)


def _say_costs(names: Sequence[str], base: Path) -> None:
    for name in names:
        for events, side, phases in costs_of(QUERIES[name], base):
            spent = ", ".join(f"{phase} {milliseconds:,} ms" for phase, milliseconds in phases.items())
            print(f"{name:4} {events:9,} events  {side:8} {spent}", flush=True)


def _keep(found: dict[str, dict[str, Any]], name: str, what: dict[str, Any]) -> None:
    """Adds to what is known of a query, and writes it at once: a long run may be ended."""
    found[name] = {**found.get(name, {}), **what}
    KEPT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
