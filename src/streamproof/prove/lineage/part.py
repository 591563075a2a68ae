"""What a run keeps, as far as it has to do with a few events: many of them are followed at once then, through scenarios of any size."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from streamproof.prove.lineage.following import traces_of
from streamproof.prove.lineage.kept import Kept, KeptEvent, KeptQuery
from streamproof.prove.oracle.trace import event_id, record_of

Windows = frozenset[str]


class Part(Kept):
    """Reads the folder of a run, and lets go of all rows that none of some events is in.

    A row stays that cannot be told from one with such an event: another row of the same window, a row of a copy.

    Parameters
    ----------
    run
        The folder of the run.
    events
        The ids of the events; their copies belong to them.

    Raises
    ------
    ConfigurationError
        If the run keeps no lineage, or it is damaged.
    """

    def __init__(self, run: Path, events: Collection[str]) -> None:
        super().__init__(run)
        self._of = frozenset(events)
        self._known: dict[str, bool] = {}
        self._stories: dict[str, tuple[Mapping[str, Any], Windows]] = {}
        self._outputs: dict[tuple[str, Windows], Mapping[str, Any]] = {}

    @cached_property
    def events(self) -> Mapping[str, KeptEvent]:
        """The events and their copies, and one of each file beside: by these it is known which query reads what."""
        found: dict[str, KeptEvent] = {}
        files: set[tuple[str, str]] = set()
        for trace, event in Kept(self.run).events.items():
            if self._is_of(trace) or (event.source, event.file) not in files:
                found[trace] = event
                files.add((event.source, event.file))
        return found

    def queries(self, scenario: str) -> list[KeptQuery]:
        """What each query of a scenario did with them."""
        return [self._query(line) for line in self.scenarios[scenario].get("queries", ())]

    def _query(self, line: Mapping[str, Any]) -> KeptQuery:
        if line["story"] not in self._stories:
            self._stories[line["story"]] = self._of_story(self._unpacked(line["story"]))
        story, windows = self._stories[line["story"]]
        outputs = []
        for name in line["outputs"]:
            if (name, windows) not in self._outputs:
                self._outputs[name, windows] = self._of_output(self._unpacked(name), windows)
            outputs.append(self._outputs[name, windows])
        return KeptQuery(line["query"], story, outputs, {int(batch): start for batch, start in line["starts"].items()})

    def _is_of(self, trace: str) -> bool:
        if trace not in self._known:
            self._known[trace] = event_id(record_of(trace)) in self._of
        return self._known[trace]

    def _has(self, traces: Sequence[str]) -> bool:
        return any(map(self._is_of, traces))

    def _of_story(self, story: Mapping[str, Any]) -> tuple[Mapping[str, Any], Windows]:
        windows = frozenset(
            _window(row)
            for rows in _rows_of(story)
            for row in rows
            if isinstance(row, dict) and "of_window" in row and self._has(row["traces"])
        )

        def chosen(rows: Sequence[Any]) -> list[Any]:
            return [row for row in rows if self._has(traces_of(row)) or (isinstance(row, dict) and _window(row) in windows)]

        if not story["nodes"]:
            return story, windows
        batches = [
            {
                **batch,
                "steps": {
                    number: {
                        "rows": chosen(step["rows"]),
                        "sides": [[kind, name, left] for kind, name, rows in step["sides"] if (left := chosen(rows))],
                    }
                    for number, step in batch["steps"].items()
                },
            }
            for batch in story["batches"]
        ]
        held = {
            number: {
                "windows": [one for one in its["windows"] if self._has(one["traces"])],
                "waiting": list(filter(self._is_of, its["waiting"])),
                "rows": list(filter(self._is_of, its["rows"])),
            }
            for number, its in story["held"].items()
        }
        return {**story, "batches": batches, "held": held}, windows

    def _of_output(self, output: Mapping[str, Any], windows: Windows) -> Mapping[str, Any]:
        rows = output["rows"]
        if rows and "of_window" not in rows[0] and not any(row.get("traces") for row in rows):
            return output  # of a job that no model knows: rows are found by the values of ids
        return {**output, "rows": [row for row in rows if self._has(row.get("traces", ())) or _window(row) in windows]}


def _rows_of(story: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    for batch in story["batches"]:
        for step in batch.get("steps", {}).values():
            yield step["rows"]
            yield from (rows for _, _, rows in step["sides"])


def _window(row: Mapping[str, Any]) -> str:
    """What a row of a window is known by: the key and the start; empty where it is of none."""
    return str(list(row["of_window"][:2])) if "of_window" in row else ""


__all__ = ["Part"]
