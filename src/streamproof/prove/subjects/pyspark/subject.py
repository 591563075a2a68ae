"""A PySpark job as a subject: its readers and writers are bound to a scenario, and its own run without a fault is the oracle (R24)."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.core.clock import from_micros
from streamproof.core.ids import new_id, short
from streamproof.core.notes import Note, NoteCode
from streamproof.core.verdict import Verdict
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.lineage.kept import KeptEvent, ToKeep
from streamproof.prove.plan.planning import ScenarioPlan, before_commits, before_writes, beyond, live, standard
from streamproof.prove.plan.planning import quick as one_of_each
from streamproof.prove.process.spark_settings import RARE_AS_IT_IS
from streamproof.prove.record.binding import CHECKPOINT, OUT, ScenarioBinding
from streamproof.prove.record.paths import Layout
from streamproof.prove.record.recording import Recording
from streamproof.prove.services.own_places import OwnPlaces
from streamproof.prove.subjects.pyspark import before_state, followed
from streamproof.prove.subjects.pyspark.checks import Evidence, checks_of
from streamproof.prove.subjects.pyspark.differences import Code, differs_without_fault, published_rows
from streamproof.prove.subjects.pyspark.events import Given
from streamproof.prove.subjects.pyspark.fault_free import FaultFree, look
from streamproof.prove.subjects.pyspark.identity import PLACES
from streamproof.prove.subjects.pyspark.leftovers import SAYS, emptied
from streamproof.prove.subjects.pyspark.memory import kept_in_memory
from streamproof.prove.subjects.pyspark.places import WRITTEN
from streamproof.prove.subjects.pyspark.readback import ReadBack
from streamproof.prove.subjects.pyspark.reading import Left, Output, input_of, queries_of, read_left
from streamproof.prove.subjects.pyspark.reference import References
from streamproof.prove.subjects.pyspark.reporting import report_of
from streamproof.prove.subjects.pyspark.terms import Terms
from streamproof.prove.subjects.pyspark.told import ELSEWHERE, Query, Told
from streamproof.prove.subjects.pyspark.unread import unread
from streamproof.prove.subjects.subject import REPEATABLE, Judged, Run, Subject

if TYPE_CHECKING:
    from streamproof.prove.process.engine import Engine

MACHINE_DEATH = "machine-death"


@dataclass
class PysparkSubject(Subject):
    """A PySpark job and the events of its samples.

    Parameters
    ----------
    given
        The events that its inputs are bound to.
    terms
        How its runs are compared.
    readers
        What reads back what the job writes by itself, by the name of the output.
    places
        Where its scenarios are in services, if it has any.
    """

    name: str
    told: Told
    folder: Path
    engine: "Engine"
    given: Given
    terms: Terms = field(default_factory=Terms)
    readers: Sequence[ReadBack] = ()
    places: OwnPlaces | None = None
    notes: tuple[Note, ...] = field(init=False, default=())
    rare = RARE_AS_IT_IS
    fault_free: FaultFree = field(init=False, default_factory=FaultFree)
    """What the run without a fault has shown, once it was compared."""
    _queries: tuple[Query, ...] = field(init=False, default=())
    _references: References = field(init=False)

    def __post_init__(self) -> None:
        self.noun = next(iter(self.given.offered), "event")
        self._references = References(self, self._read)

    @property
    def masked(self) -> bool:
        return self.terms.masked

    # -- where it runs

    @property
    def layout(self) -> Layout:
        names = [query.name for query in self._queries]
        owners = {name: name for name in names} | ({WRITTEN: names[0]} if names else {})
        return Layout(
            checkpoints={query.name: f"{CHECKPOINT}/{query.checkpoint}" for query in self._queries},
            outputs={name: f"{OUT}/{name}" for name in owners},
            owners=owners,
        )

    def binding(self, name: str, *, recording: str | None = None, trace: bool = True, by_line: str = "") -> ScenarioBinding:
        folder = self.folder / "disks" / name
        base = str(folder) if recording is None else f"sp-record://{recording}{folder}"
        return ScenarioBinding(base, folder, self.given.data, self.given.files_per_batch, urls=self._words(name))

    def _words(self, scenario: str) -> Mapping[str, str]:
        """What stands for the words of a scenario's places in services."""
        return self.places.values(scenario) if self.places is not None else {}

    def require_services(self, *, look: bool) -> None:
        if self.places is not None:
            self.places.services.require_alive(look=look)

    def open_places(self, name: str) -> None:
        if self.places is not None:
            self.places.open(name)

    def close_places(self, name: str) -> None:
        if self.places is not None and self.places.services.alive:
            self.places.close(name)

    def child(self) -> Mapping[str, Any]:
        return replace(self.told, roles=[query.name for query in self._queries]).as_dict()

    def carry(self, recorded: Path, folder: Path) -> None:
        places = recorded / PLACES
        if places.is_file():
            shutil.copyfile(places, folder / PLACES)

    def learn(self, folder: Path, notes: Sequence[Note], run: Run) -> None:
        self.notes = tuple(notes)
        self._queries = queries_of(folder)
        self._references.run = run
        if self.terms.ignored.names:
            self.terms.ignored.require_there(self._whole(folder))

    @property
    def leaves_the_disk(self) -> bool:
        """Whether the job keeps something where no recorded disk holds it: such a job is crashed while it runs, always (R17)."""
        own = [query for query in self._queries if query.rows == "function"]
        return bool(self.readers) or self.told.keeps_elsewhere or bool(own)

    # -- what is tried

    def plans(self, recordings: Mapping[str, Recording], *, full: bool, quick: bool) -> tuple[list[ScenarioPlan], tuple[str, ...]]:
        default = recordings["default"]
        if self.leaves_the_disk:
            tried = (*before_commits(default.steps), *live(default.steps, ()), *before_writes(default.steps))
            crashes = list({plan.id: plan for plan in tried}.values())
            return (one_of_each(crashes) if quick else crashes), ()
        crashes = standard(default.steps)
        if quick:
            return one_of_each(crashes), ()
        more = beyond(default.steps, recordings["rare"].steps, crashes) if full else []
        kept = [plan for plan in more if plan.fault != MACHINE_DEATH]
        left_out = ("machine death: Spark alone does not bring back the files that it takes",) if len(kept) < len(more) else ()
        return [*crashes, *kept], left_out

    def remedy(self, folder: Path) -> bool:
        done = emptied(folder / CHECKPOINT / query.checkpoint for query in self._queries)
        note = Note(NoteCode.CHECKPOINT_EMPTIED, SAYS)
        if done and note not in self.notes:
            self.notes = (*self.notes, note)
        return done

    # -- whether it is right

    def judge(self, folder: Path, *, power_failure: bool, rerun: Sequence[int], keep_rows: bool) -> Judged:
        left = self._read(folder)
        files = {name: tuple(one.files) for name, one in self.given.offered.items()}
        evidence = Evidence(
            left,
            self._references.over,
            files,
            masked=self.terms.masked,
            kept=self._kept,
            unread=self.unread,
            events=self._events,
        )
        checks = checks_of(evidence)
        published = published_rows(left) if keep_rows else None
        return Judged(checks, {}, self._batches(left, rerun), left, published)

    @property
    def unread(self) -> tuple[Query, ...]:
        """The queries of which nothing was read back."""
        return unread(self._queries, [one.name for one in self.readers])

    @cached_property
    def _events(self) -> dict[str, tuple[int, int]]:
        """By input how many events there are, and how many of them are spoilt on purpose."""
        all_of = {name: [event for its in one.files.values() for event in its] for name, one in self.given.offered.items()}
        return {name: (len(its), sum(event.kind == "malformed" for event in its)) for name, its in all_of.items()}

    @cached_property
    def _kept(self) -> str:
        """What the job keeps in memory, in words."""
        kept = kept_in_memory(Path(self.told.file), self.told.function)
        return kept.said() if kept is not None else ""

    def _read(self, folder: Path) -> Left:
        """The rows that a run has left, those that the user's functions read back included, without the columns that are ignored."""
        return self.terms.ignored.without(self._whole(folder))

    def _whole(self, folder: Path) -> Left:
        """The same with all columns."""
        found = read_left(folder)
        told, place, words = self.told, folder / ELSEWHERE, self._words(folder.name)
        extra = tuple(
            Output(one.name, None, {None: one.rows(told.arguments, told.environment, place, words)}) for one in self.readers
        )
        return replace(found, outputs=(*found.outputs, *extra))

    def lineage_events(self) -> list[KeptEvent]:
        return followed.events_of(self.given, masked=self.terms.masked)

    def lineage(self, evidence: Any) -> list[ToKeep] | None:
        return followed.queries_of(evidence, masked=self.terms.masked) if isinstance(evidence, Left) else None

    def compare(self, one: Recording, other: Recording) -> Sequence[CheckResult]:
        """Two runs without any fault give the same rows, and take the same steps.

        Queries of one program run side by side, and no step says which of them a batch writer belongs to: with several queries, in which
        batch of the first such a step falls is chance.
        """
        left, again = self._read(one.binding.folder), self._read(other.binding.folder)
        findings = list(differs_without_fault(left, again, self.told, masked=self.terms.masked))
        by_chance = f"publish/{WRITTEN}" if len(left.queries) > 1 else None
        differing = one.steps.comparable ^ other.steps.comparable
        steps = sorted(step for step in differing if by_chance is None or by_chance not in step)
        if steps and not findings:
            what = "two runs without any fault take other durable steps"
            findings.append(
                Finding(Code.OTHER_STEPS, None, what, None, "the same steps", f"only in one of them: {', '.join(steps[:5])}")
            )
        repeatable = CheckResult(REPEATABLE, Verdict.FAIL if findings else Verdict.PASS, tuple(findings), len(findings))
        self.fault_free = look(one.binding.folder, left.batches, self.given.offered, self.terms.expected, self._look_before_state)
        return [repeatable, *self.fault_free.checks()]

    def _look_before_state(self) -> tuple[Path, str]:
        """Runs the job once more and keeps the rows that reach its stateful operators; the folder, and in words what went wrong."""
        binding = self.binding("before-state")
        assert self._references.run is not None, "it is given with the first run"
        result = self._references.run(f"before-state-{short(new_id())}", binding, {before_state.SETTING: "true"})
        return binding.folder, f"the run that looked at them stopped: {result.message}" if result.code else ""

    def called(self, trace: str) -> str:
        return trace

    def _batches(self, left: Left, rerun: Sequence[int]) -> list[dict[str, Any]]:
        first = next(iter(left.batches.values()), ())
        return [
            {
                "batch": batch.number,
                "watermark": from_micros(batch.watermark_ms * 1_000).isoformat() if batch.watermark_ms else None,
                "rows": sum(
                    len(self.given.offered[input_of(name)].files.get(file, ()))
                    for name, files in batch.files.items()
                    for file in files
                ),
                "files": sum(map(len, batch.files.values())),
                "attempts": 2 if batch.number in rerun else 1,
            }
            for batch in first
        ]

    # -- what is said

    def report(self, evidence: Any) -> dict[str, Any]:
        return report_of(self, evidence)

    @property
    def queries(self) -> tuple[Query, ...]:
        return self._queries

    def close(self) -> None:
        for left in ("disks", "events", "children", "recording-*"):
            for folder in self.folder.glob(left):
                shutil.rmtree(folder, ignore_errors=True)
