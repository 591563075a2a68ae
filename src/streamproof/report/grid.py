"""The grid of crash points: batches across, phases down, a cell for each enumerated step."""

from collections import defaultdict
from dataclasses import dataclass

from streamproof.core.phases import Phase
from streamproof.core.verdict import Verdict, worst
from streamproof.report.shape import Report, ScenarioEntry, StepEntry

_PHASES = [phase.value for phase in Phase]
_ORDER = {"fail": 0, "unknown": 1, "untried": 2, "pass": 3}


@dataclass(frozen=True)
class Cell:
    """One crash point: `state` is pass, unknown, fail, or untried; `scenarios` are the places of those that prove it."""

    step: str
    batch: int
    state: str
    scenarios: tuple[int, ...]

    @property
    def label(self) -> str:
        return f"{self.step}, {'not tried' if self.state == 'untried' else self.state}"


@dataclass(frozen=True)
class Row:
    """One phase (of one query, where a job has several): its cells by batch, red ones first."""

    query: str
    phase: str
    groups: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Grid:
    """All crash points; `red` and `undecided` are those to look at, in reading order."""

    batches: tuple[int, ...]
    rows: tuple[Row, ...]
    red: tuple[Cell, ...]
    undecided: tuple[Cell, ...]
    untried: int

    @property
    def size(self) -> int:
        return sum(len(group) for row in self.rows for group in row.groups)

    @property
    def queries(self) -> bool:
        return any(row.query for row in self.rows)


def build(report: Report, scenarios: list[ScenarioEntry]) -> Grid:
    """The grid of a report whose scenarios are shown in the given order.

    A cell is as bad as the worst scenario at its step: the one that proves its disk, and those that crash there in another way (live, with
    another fault or recording).
    """
    place = {scenario["id"]: index for index, scenario in enumerate(scenarios)}
    at_step: dict[str, list[int]] = defaultdict(list)
    for index, scenario in enumerate(scenarios):
        if scenario["step"] is not None:
            at_step[scenario["step"]].append(index)
    cells: dict[tuple[str, str], dict[int, list[Cell]]] = defaultdict(lambda: defaultdict(list))
    for step in report["steps"]:
        proving = [place[step["scenario"]]] if step["scenario"] in place else []
        found = tuple(dict.fromkeys([*proving, *at_step[step["id"]]]))
        state = worst(Verdict(scenarios[index]["verdict"]) for index in found).value if found else "untried"
        cells[_query(step), step["phase"]][step["batch"]].append(Cell(step["id"], step["batch"], state, found))
    batches = tuple(sorted({step["batch"] for step in report["steps"]}))
    rows = tuple(
        Row(
            query, phase, tuple(tuple(sorted(cells[query, phase][batch], key=lambda cell: _ORDER[cell.state])) for batch in batches)
        )
        for query, phase in sorted(cells, key=_down)
    )
    flat = [cell for row in rows for group in row.groups for cell in group]
    return Grid(
        batches=batches,
        rows=rows,
        red=tuple(cell for cell in flat if cell.state == "fail"),
        undecided=tuple(cell for cell in flat if cell.state == "unknown"),
        untried=sum(cell.state == "untried" for cell in flat),
    )


def _query(step: StepEntry) -> str:
    before = step["id"].split("/", 1)[0]
    return before.rsplit(":", 1)[0] if ":" in before else ""


def _down(row: tuple[str, str]) -> tuple[str, int]:
    query, phase = row
    return query, _PHASES.index(phase) if phase in _PHASES else len(_PHASES)
