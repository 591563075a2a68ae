"""A small run whose lineage is kept: the small subject of the tests of the checkers, as a fault-free scenario and as others."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from streamproof.prove.artifacts.history import History
from streamproof.prove.lineage.kept import FOLDER, Keeper, Kept
from streamproof.prove.lineage.stories import events_kept, queries_kept
from streamproof.prove.lineage.tracing import FAULT_FREE, Run

CRASHED = "publish/totals@1:after"


def reported(name: str, *twice: int) -> dict[str, Any]:
    """What a report says of a scenario: the batches 0 to 2, of which some ran twice."""
    batches = [{"batch": batch, "attempts": 2 if batch in twice else 1} for batch in range(3)]
    crash = "" if name == FAULT_FREE else "after output totals of batch 1 was published"
    return {"id": name, "crash": crash, "batches": batches}


def keep(folder: Path, scenarios: Mapping[str, History]) -> Kept:
    """Keeps what these scenarios did, as a proof does while it runs."""
    keeper = Keeper(folder / FOLDER)
    for name, history in scenarios.items():
        keeper.keep(
            name,
            lambda history=history: events_kept(
                history.offered, {}, lambda trace: f"trade {trace}", lambda event: [event.values["id"]]
            ),
            lambda history=history: queries_kept(history),
        )
    return Kept(folder)


def run_of(
    folder: Path, scenarios: Mapping[str, History], *, scenario: str | None = None, report: Sequence[Mapping[str, Any]] = ()
) -> Run:
    """A run with these scenarios, of which one is looked at."""
    return Run(keep(folder, scenarios), report or [reported(name) for name in scenarios], scenario)
