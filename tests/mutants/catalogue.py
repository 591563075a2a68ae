"""The mutants of our own product, as data: every file of `catalogue/` has those of some rules (part 7 of the protocol's promise)."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
JOBS = (ROOT / "tests" / "proofs" / "jobs", HERE / "jobs", ROOT / "examples")
"""Where the jobs lie that mutants are proved on."""


@dataclass(frozen=True)
class Edit:
    """Replaces a text, which must be there once, in a file below src/streamproof, or below jvm/ where its name begins so."""

    file: str
    find: str
    replace: str

    @property
    def path(self) -> str:
        """The file as seen from the root of the sources."""
        return self.file if self.file.startswith("jvm/") else f"src/streamproof/{self.file}"

    def applied(self, text: str) -> str:
        """The text with the mistake; ValueError unless what is to be replaced is in it exactly once."""
        if text.count(self.find) != 1:
            raise ValueError(f"the text to be replaced is {text.count(self.find)} times in {self.file}, must be once")
        return text.replace(self.find, self.replace)


@dataclass(frozen=True)
class Selection:
    """What a mutant is proved on: the job, its profile, the plan, and which of its scenarios.

    Parameters
    ----------
    plan
        "standard", "quick" or "full"; on services the same names.
    only
        As `streamproof prove --only`.
    events, batches
        In place of those of the job's scenario.
    rate_at_restart
        For jobs with a `rate.txt`: the rate changes to this once the run is recorded.
    change
        Texts of the job that are replaced: the file, what stands there, what takes its place.
    """

    job: str
    only: str
    plan: str = "standard"
    profile: str | None = None
    events: int | None = None
    batches: int | None = None
    rate_at_restart: float | None = None
    change: tuple[tuple[str, str, str], ...] = ()

    @property
    def group(self) -> tuple[object, ...]:
        """Selections of a group differ in their scenarios alone: one proof can have them all."""
        return (self.job, self.plan, self.profile, self.events, self.batches, self.rate_at_restart, self.change)

    @property
    def folder(self) -> Path:
        """Where the job lies."""
        return next(jobs / self.job for jobs in JOBS if (jobs / self.job).is_dir())

    def __str__(self) -> str:
        profile = f" --profile {self.profile}" if self.profile else ""
        return f"the {self.plan} plan of {self.job}{profile}, {self.only}"


@dataclass(frozen=True)
class Mutant:
    """A mistake in the product, and the proof that must see it.

    Parameters
    ----------
    rule
        The rule of the protocol that it breaks.
    says
        What is wrong with it, in a sentence.
    red
        The checkers of which at least one must say fail.
    survives
        Why no proof can see it; empty where one must.
    everywhere
        Whether the prover has the mistake too: the oracle must not take from the product what it judges (R28).
    services
        What a proof of it starts; such a mutant runs only when asked for.
    ci
        Whether the tests have it: fast ones, of as many rules as can be (`test_broken_product` says which of them every run has).
    """

    name: str
    rule: str
    says: str
    edits: tuple[Edit, ...]
    selection: Selection
    red: tuple[str, ...] = ()
    survives: str = ""
    everywhere: bool = False
    services: tuple[str, ...] = ()
    ci: bool = False

    @property
    def java(self) -> bool:
        """Whether it is in the Java classes: they live in the JVM of the proof."""
        return any(edit.file.startswith("jvm/") for edit in self.edits)

    @property
    def elsewhere(self) -> bool:
        """Whether the whole proof runs in a process of its own, with the mistake in it."""
        return self.java or self.everywhere

    def __str__(self) -> str:
        return self.name


def catalogue() -> list[Mutant]:
    """Every mutant, file by file as they are written."""
    return [_mutant(found) for path in sorted((HERE / "catalogue").glob("*.toml")) for found in _tables(path)]


def in_groups(mutants: Sequence[Mutant]) -> dict[tuple[object, ...], Selection]:
    """For each kind of proof all scenarios that its mutants ask for: the sound product is tried on them at once."""
    found: dict[tuple[object, ...], Selection] = {}
    for mutant in mutants:
        known = found.get(mutant.selection.group)
        parts = dict.fromkeys([*(known.only.split(",") if known else ()), *mutant.selection.only.split(",")])
        found[mutant.selection.group] = replace(mutant.selection, only=",".join(parts))
    return found


def _tables(path: Path) -> list[dict[str, Any]]:
    """The mutants of a file, with what its head says of all of them that do not say otherwise."""
    found = tomllib.loads(path.read_text())
    mutants: list[dict[str, Any]] = found.pop("mutant")
    return [{**found, **mutant} for mutant in mutants]


def _mutant(found: Mapping[str, Any]) -> Mutant:
    said = dict(found)
    edits = said.pop("edit", None) or [{key: said.pop(key) for key in ("file", "find", "replace")}]
    of_selection = Selection.__dataclass_fields__.keys() & said.keys()
    selected = {key: said.pop(key) for key in of_selection}
    selected["change"] = tuple((file, before, after) for file, before, after in selected.get("change", ()))
    rest: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}
    return Mutant(
        **rest,
        edits=tuple(Edit(**edit) for edit in edits),
        selection=Selection(**{"job": "full_plan", **selected}),
    )
