"""Does the job keep the state that the checkpoint was made with (R25)."""

from streamproof.core.manifest import NONE
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import PlanChanged
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.stream.identity import LATENESS, MadeBy, differences

_LATENESS_OF_WAITING = ("lag",)
"""Where rows wait until their window is on time, another allowed lateness would let some of them go out never, or twice."""
_LATENESS_OF_SOURCES = tuple(f"{part} of " for part in LATENESS)
"""How these parts of the further sources of a union begin."""


def _further_sources(made_by: MadeBy) -> set[str]:
    """The sources that are put together with the first one: Spark numbers them in the offset log."""
    return {part for part in made_by if part.startswith("source ")}


def require_same(manifests: ManifestStore, made_by: MadeBy, *, parks: bool, accept_lateness: bool) -> list[Note]:
    """PlanChanged if the state in a checkpoint was made by other operators, keys, windows, lateness or aggregates; else what is worth noting.

    The newest manifest says what it was made by: no state is committed without one. What the checkpoint pins by itself (the number of state
    partitions, the state store, its format) is not compared, since Spark takes it from there whatever the session says.

    Parameters
    ----------
    parks
        Whether rows wait behind Spark's plan until their window is on time.
    accept_lateness
        Whether another lateness is a note.
    """
    newest = next(manifests.newest_first(), None)
    if newest is None:
        return []
    if newest.made_by.get("operators") == made_by.get("operators") == NONE and _further_sources(newest.made_by) == _further_sources(
        made_by
    ):
        return []  # there is no state that the source or its event time could be wrong for
    found = differences(newest.made_by, made_by)
    acceptable = _LATENESS_OF_WAITING if parks else LATENESS
    only_lateness = bool(found) and all(part in acceptable or part.startswith(_LATENESS_OF_SOURCES) for part in found)
    if not found:
        return []
    if only_lateness and accept_lateness:
        said = f"Another lateness was accepted from here on: {'; '.join(found.values())}."
        return [Note(NoteCode.LATENESS_ACCEPTED, said)]
    raise PlanChanged(
        f"The checkpoint {manifests.checkpoint} (batch {newest.batch}, by version {newest.version}) was made by another job: "
        f"{'; '.join(found.values())}.",
        required="State is bound to operators and columns by their place: old rows would be read as what they are not.",
        remedy="Put the job back as it was, or give it another [job] checkpoint and new outputs: it then reads its sources from the start."
        + ("\nTo go on with the new lateness, which old state allows: run --accept-lateness" if only_lateness else ""),
    )
