"""Synthetic reports, the same in every run: a green one of 12 batches, a red, an undecided, and one that was interrupted at once."""

import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from streamproof.core.clock import from_micros, to_micros
from streamproof.core.randomness import Seeded
from streamproof.report.shape import Report

BASE = to_micros(datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
SECOND = 1_000_000
BATCHES, EVENTS, SEED = 12, 50_000, 7
CHECKS = (
    "intake", "exactly-once", "account", "window-contents", "late-routing", "rejected-routing", "watermark-progress",
    "state-contents", "liveness", "batch-equivalence", "business-rule", "expectations",
)  # fmt: skip
OPERATIONS = {
    "plan": ["sources.0", "sources.1", "offsets"],
    "work": ["state.0.0", "state.0.1", "state.1.0", "state.1.1", "late.0", "late.1", "rejected.0", "rejected.1"],
    "stage": ["exposure", "exposure#2", "late", "rejected", "manifest"],
    "publish": ["exposure", "late", "rejected"],
    "commit": ["metrics", "commits"],
}
ACCOUNT = {"input": 50_000, "emitted": 47_912, "open_state": 1_020, "late": 318, "rejected": 201, "duplicate": 549, "filtered": 0}
CRASHES = {
    "plan": "after Spark wrote {kind} of batch {batch}",
    "work": "after a task of batch {batch} wrote {kind}",
    "stage": "after {kind} of batch {batch} was staged, before it was published",
    "publish": "after output {kind} of batch {batch} was published, before Spark committed the batch",
    "commit": "after Spark committed batch {batch}",
    "start": "after {kind} was written, before batch 0",
    "maintenance": "after Spark removed old state of batch {batch}",
}


def durable_operations() -> list[tuple[str, str, int]]:
    """(phase, kind, batch) of everything durable, in the order of a run."""
    found = [("start", "metadata", 0), ("start", "incarnation", 0)]
    for batch in range(BATCHES):
        found += [(phase, kind, batch) for phase, kinds in OPERATIONS.items() for kind in kinds]
        if batch >= 8:
            found.append(("maintenance", "state.0.0", batch))
    return found


def history(crashed: int | None) -> list[dict[str, Any]]:
    return [
        {
            "batch": batch,
            "watermark": from_micros(BASE + (batch * 50 - 70) * SECOND).isoformat() if batch > 1 else None,
            "rows": 4_166 if batch % 3 else 4_168,
            "files": 2,
            "attempts": 2 if batch == crashed else 1,
        }
        for batch in range(BATCHES)
    ]


def scenario(name: str, phase: str, kind: str, batch: int, mode: str = "image") -> dict[str, Any]:
    return {
        "id": name + ("+live" if mode == "live" else ""),
        "fault": "process-death",
        "phase": phase,
        "batch": batch,
        "step": name,
        "mode": mode,
        "fired": True,
        "verdict": "pass",
        "seconds": 0.4 + batch / 10 + (3.0 if mode == "live" else 0.0),
        "checks": [{"name": check, "verdict": "pass", "findings": []} for check in CHECKS],
        "replay": f"streamproof prove my_job --only {name}{'+live' if mode == 'live' else ''} --seed {SEED}",
        "crash": CRASHES[phase].format(kind=kind, batch=batch),
        "account": dict(ACCOUNT),
        "batches": history(batch),
        "read_on": None,
    }


def event_time() -> dict[str, Any]:
    """3,000 points over ten minutes of event time, 318 of them late, some with an event time of 1970 or 11026."""
    seeded = Seeded(SEED, "points")
    rate = 600 * SECOND / EVENTS
    firsts = [EVENTS * batch // BATCHES for batch in range(BATCHES)]
    marks = [max(0, batch * 50 - 70) * SECOND + BASE if batch > 1 else 0 for batch in range(BATCHES)]
    wanted = {"late": 318, "rejected": 201, "duplicate": 260, "open_state": 190}
    fates = [fate for fate, count in wanted.items() for _ in range(count)]
    fates = seeded.shuffled(fates + ["emitted"] * (3_000 - len(fates)))
    points = []
    for index, fate in enumerate(fates):
        arrival = index * EVENTS // 3_000 + seeded.below(16)
        if fate == "late" and arrival < firsts[3]:
            arrival = firsts[3] + seeded.below(EVENTS - firsts[3])
        if fate == "open_state":
            arrival = EVENTS - 1 - seeded.below(5_000)
        batch = sum(first <= arrival for first in firsts) - 1
        time = BASE + int(arrival * rate) - int(seeded.exponential(8) * SECOND)
        if fate == "late":
            time = marks[batch - 1] - 30 * SECOND - int(seeded.exponential(20) * SECOND)
        if fate == "rejected" and index % 5 == 0:
            time = 0 if index % 2 else BASE + 9_000 * 365 * 86_400 * SECOND
        points.append({"arrival": arrival, "time_us": time, "fate": fate, "event": f"t-{arrival:06d}", "batch": batch})
    return {
        "points": sorted(points, key=lambda point: point["arrival"]),
        "watermark": [{"arrival": firsts[batch], "time_us": marks[batch], "batch": batch} for batch in range(BATCHES)],
        "windows": [{"start_us": BASE + at * SECOND, "end_us": BASE + (at + 30) * SECOND} for at in range(-60, 600, 30)],
        "batches": [{"batch": batch, "first_arrival": firsts[batch]} for batch in range(BATCHES)],
    }


def build_green() -> Report:
    """A standard plan of 12 batches that passed: about 270 scenarios, twice as many crash points."""
    operations = durable_operations()
    steps, scenarios, before = [], [], None
    for phase, kind, batch in operations:
        name = f"{phase}/{kind}@{batch}"
        steps.append({"id": f"{name}:before", "phase": phase, "batch": batch, "scenario": before or f"{name}:before"})
        if before is None:
            scenarios.append(scenario(f"{name}:before", phase, kind, batch))
        before = f"{name}:after"
        steps.append({"id": before, "phase": phase, "batch": batch, "scenario": before})
        scenarios.append(scenario(before, phase, kind, batch))
    scenarios += [scenario(f"{phase}/{kinds[-1]}@4:after", phase, kinds[-1], 4, "live") for phase, kinds in OPERATIONS.items()]
    scenarios.append(
        {**scenario("fault-free", "start", "", 0), "id": "fault-free", "fault": None, "phase": None, "batch": None, "step": None}
        | {
            "mode": "fault-free",
            "fired": False,
            "crash": "",
            "batches": history(None),
            "replay": "streamproof prove my_job --only fault-free --seed 7",
        }
    )
    report: Any = {
        "verdict": "pass",
        "plan": "standard",
        "job": "risk_exposure",
        "title": "risk_exposure",
        "noun": "trade",
        "seed": SEED,
        "seconds": 221.0,
        "events": EVENTS,
        "spark_batches": BATCHES,
        "counts": {"pass": len(scenarios), "fail": 0, "unknown": 0},
        "enumerated": len(steps),
        "distinct": len(operations) + 1,
        "fired": len(scenarios) - 1,
        "command": f"streamproof prove my_job --seed {SEED}",
        "notes": ["Connections that the JVM or C libraries open by themselves are not seen."],
        "conservation": {"fault_free": dict(ACCOUNT), "worst": dict(ACCOUNT)},
        "scenarios": scenarios,
        "steps": steps,
        "environment": {
            "streamproof": "0.1.0", "spark": "4.3.0", "java": "17.0.12", "python": "3.11.7", "master": "local[2]", "os": "Linux 6.1",
        },
        "recording": {"batches": BATCHES, "seconds": 6.2, "steps": len(steps)},
        "event_time": event_time(),
        "outputs": [
            {"name": "exposure", "rows": 4_310, "where": "out/exposure", "format": "parquet", "guarantee": "exactly once (with its ledger)"},
            {"name": "late", "rows": 318, "where": "out/late", "format": "json", "guarantee": "exactly once"},
            {"name": "rejected", "rows": 201, "where": "out/rejected", "format": "json", "guarantee": "exactly once"},
        ],
    }  # fmt: skip
    return report  # type: ignore[no-any-return]


def judge(report: Report, name: str, verdict: str, check: str, findings: list[dict[str, Any]]) -> dict[str, Any]:
    """Give one scenario of the report another verdict, by one check."""
    found: Any = next(entry for entry in report["scenarios"] if entry["id"] == name)
    found["verdict"] = verdict
    for entry in found["checks"]:
        if entry["name"] == check:
            entry.update(verdict=verdict, findings=findings)
    report["counts"][verdict] += 1  # type: ignore[literal-required]
    report["counts"]["pass"] -= 1
    return found  # type: ignore[no-any-return]


def build_red(failing: int = 7) -> Report:
    """The same plan with an output that appends on replay: one event counted twice after each publication."""
    report = build_green()
    report["verdict"] = "fail"
    event = next(
        point
        for point in report["event_time"]["points"]
        if point["batch"] == 3 and point["fate"] == "emitted" and point["arrival"] > 14_000
    )
    for batch in range(3, 3 + failing):
        entry = judge(
            report,
            f"publish/exposure@{batch}:after",
            "fail",
            "exactly-once",
            [
                {
                    "code": "counted-again",
                    "what": f"trade {name} is counted twice",
                    "event": name,
                    "batch": batch,
                    "expected": "client c17  09:01:00-09:01:30   exposure 48,210.50   trades 31",
                    "found": "client c17  09:01:00-09:01:30   exposure 49,905.50   trades 32",
                    "how": f"batch {batch} ran again after the crash and its rows were appended a second time",
                }
                for name in (event["event"], *(f"t-{20_000 + number:06d}" for number in range(7)))
            ],
        )
        entry["checks"][2].update(verdict="fail", findings=[
            {"code": "does-not-add-up", "what": "4,166 records are in two places", "event": None, "batch": batch, "expected": "50,000",
             "found": "54,166", "how": None}
        ])  # fmt: skip
        entry["account"]["emitted"] += 4_166
        entry["read_on"] = "docs/incidents/appends-on-replay"
    report["conservation"]["worst"]["emitted"] += 4_166
    return report


def story(scenario: str, *lines: tuple[str, str]) -> list[list[str]]:
    """The way of an event in lines, as a report has it."""
    return [["scenario", scenario], ["arrived", "row 1,515 of part-3-1.json of trades, read by batch 3"], *map(list, lines)]


def build_followed() -> Report:
    """The red report with events and rows that are told one by one, and without a smallest scenario."""
    report = build_red()
    failed, event = "publish/exposure@3:after", "t-014014"
    wrong = "its row is in exposure 2 times, by batch 3; the model has 1"
    sample = [point for point in report["event_time"]["points"] if point["fate"] in ("late", "rejected", "emitted")][::40][:40]
    row = "client c17 · window_start 2026-03-02 09:01:00 · exposure 48,210.50 · trades 31"
    report["followed"] = {
        "events": [
            {
                "trace": event,
                "called": f"trade {event}",
                "scenario": failed,
                "named": True,
                "ends": f"WRONG: {wrong}",
                "lines": story(failed, ("in window", "c17 09:01:00-09:01:30 with 30 others"), ("WRONG", wrong)),
            },
            {
                "trace": "t-020000",
                "called": "trade t-020000",
                "scenario": failed,
                "named": True,
                "ends": f"WRONG: {wrong}",
                "lines": story(failed, ("WRONG", wrong)),
            },
            *(
                {
                    "trace": point["event"],
                    "called": f"trade {point['event']}",
                    "scenario": "fault-free",
                    "named": False,
                    "ends": f"left by {point['fate']} at window in batch {point['batch']}",
                    "lines": story("a run without a fault", ("left by", f"{point['fate']} at window")),
                }
                for point in sample
            ),
        ],
        "rows": [
            {
                "output": "exposure",
                "scenario": failed,
                "called": row,
                "wrong": True,
                "made_of": [event, "t-000001"],
                "lines": [["scenario", failed], ["row", row], ["WRONG", "this row is in exposure 2 times; the model has 1"]],
            }
        ],
        "of_events": EVENTS,
        "of_rows": 4_310,
        "masked": False,
    }
    return report


SMALLEST: Any = {
    "scenario": "publish/exposure@3:after",
    "failed": "publish/exposure@0:after",
    "crash": "the process dies after output exposure of batch 0 was published",
    "finding": {"what": "trade t-014014 is counted twice", "code": "exactly-once/published-again", "event": "t-014014"},
    "story": [["arrived", "row 1 of part-0-0.json, read by batch 0"], ["WRONG", "its row is in exposure 2 times; the model has 1"]],
    "whole": {"events": EVENTS, "batches": BATCHES, "faults": 1},
    "size": {"events": 2, "batches": 1, "faults": 1},
    "events": [
        {"batch": 0, "source": "trades", "trace": "t-014014", "record": '{"trade_id": "t-014014", "client": "c17", "notional": 12.5}'},
        {"batch": 0, "source": "trades", "trace": "t-014901", "record": '{"trade_id": "t-014901", "client": "c02", "notional": 7.25}'},
    ],
    "use": {
        "replay": "streamproof prove my_job --only publish/exposure@0:after --exactly my_job/.streamproof/runs/0007/smallest.json",
        "test": "import streamproof as sp\n\nEVENTS = {...}\n\n\ndef test_risk_exposure():\n    assert sp.prove('my_job', exactly=EVENTS)\n",
        "test_file": "my_job/.streamproof/runs/0007/test_smallest.py",
        "events_file": "my_job/.streamproof/runs/0007/smallest.json",
    },
    "search": {
        "tries": 12,
        "seconds": 61.5,
        "to_the_end": True,
        "again": True,
    },
}  # fmt: skip
"""What `streamproof shrink` adds to the red report."""


def build_shrunk() -> Report:
    """The same after `streamproof shrink`, with the state at the crash."""
    report = build_followed()
    report["smallest"] = copy.deepcopy(SMALLEST)
    report["state"] = state()
    return report


def state() -> Any:
    """Two operators: windows of which one is not as without a fault, and remembered ids that are the same as without one."""
    windows = [
        {"what": "changed", "key": [f"2026-03-02T09:01:{number:02d}.500000Z", f"c{number:02d}"], "unsound": number == 17,
         "crash": [number, 12.5], "after": [number + 1, 12.5]}
        for number in (17, *range(17), *range(18, 60))
    ]  # fmt: skip
    ids = [
        {"what": "gone", "key": ["t-000001"], "crash": [], "after": None, "unsound": False},
        {"what": "new", "key": ["t-000002"], "crash": None, "after": [], "unsound": False},
    ]
    return {
        "scenario": "publish/exposure@3:after",
        "recovered": True,
        "masked": False,
        "operators": [
            {
                "query": "exposure", "operator": 0, "word": "aggregate", "row": "open group",
                "key": ["window_end", "client"], "values": ["records", "exposure"],
                "crash": {"batch": 2, "rows": 300, "unread": ""}, "after": {"batch": 3, "rows": 310, "unread": ""},
                "counts": {"changed": 300, "gone": 0, "new": 10, "same": 0, "missing": 0}, "unsound": 1, "rows": windows,
            },
            {
                "query": "exposure", "operator": 1, "word": "deduplicate", "row": "key", "key": ["trade_id"], "values": [],
                "crash": {"batch": 2, "rows": 1, "unread": ""}, "after": {"batch": 3, "rows": 1, "unread": ""},
                "counts": {"changed": 0, "gone": 1, "new": 1, "same": 0, "missing": 0}, "unsound": 0, "rows": ids,
            },
        ],
    }  # fmt: skip


def build_unknown() -> Report:
    """A plan cut short by its time budget, with one checker that crashed and one fault that did not fire."""
    report = build_green()
    report["verdict"] = "unknown"
    report["plan"] = "part"
    report["notes"] = ["Cut short by --time-budget 2 minutes: the rest of the plan was not tried.", *report["notes"]]
    report["scenarios"] = [entry for entry in report["scenarios"] if entry["batch"] is None or entry["batch"] < 8]
    report["counts"] = {"pass": len(report["scenarios"]), "fail": 0, "unknown": 0}
    judge(report, "work/state.0.1@3:after", "unknown", "state-contents", [
        {"code": "checker-crashed", "what": "the checker crashed: KeyError('window_start')", "event": None, "batch": 3,
         "expected": None, "found": None, "how": None}
    ])  # fmt: skip
    judge(report, "commit/metrics@5:after", "unknown", "none", [])["fired"] = False
    report["fired"] = len(report["scenarios"]) - 2
    return report


def build_empty() -> Report:
    """Interrupted before the fault-free run had finished a batch."""
    report: Any = copy.deepcopy(build_green())
    nothing = dict.fromkeys(ACCOUNT, 0)
    report |= {
        "verdict": "unknown", "plan": "part", "seconds": 1.2, "spark_batches": 0, "counts": {"pass": 0, "fail": 0, "unknown": 0},
        "enumerated": 0, "distinct": 0, "fired": 0, "notes": ["Interrupted while the fault-free run was being recorded."],
        "conservation": {"fault_free": nothing, "worst": dict(nothing)}, "scenarios": [], "steps": [],
        "recording": {"batches": 0, "seconds": 0.0, "steps": 0},
        "event_time": {"points": [], "watermark": [], "windows": [], "batches": []}, "outputs": [],
    }  # fmt: skip
    return report  # type: ignore[no-any-return]


@pytest.fixture
def green() -> Report:
    return build_green()


@pytest.fixture
def red() -> Report:
    return build_red()


@pytest.fixture
def followed() -> Report:
    return build_followed()


@pytest.fixture
def shrunk() -> Report:
    return build_shrunk()


@pytest.fixture
def unknown() -> Report:
    return build_unknown()


@pytest.fixture
def empty() -> Report:
    return build_empty()
