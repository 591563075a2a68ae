"""Every kind of job that is soaked, by its name."""

import sys

from soak import topics
from soak.kinds import JOBS, Kind, ours, run, write_init, write_plain

KINDS = {
    kind.name: kind
    for kind in (
        Kind("init", write_init, run, "checkpoints/risk_exposure/exposure", "data/trades"),
        *(Kind(name, ours(text), run, "checkpoint/rows") for name, text in JOBS.items()),
        topics.OfTopics("topics", topics.write, run, "checkpoint/rows"),
        Kind("plain", write_plain, lambda folder: [sys.executable, str(folder / "plain.py"), str(folder)], "checkpoint"),
    )
}
