"""The emission that a job asks for, by its name."""

from difflib import get_close_matches
from typing import Any

from streamproof.errors import JobDefinitionError
from streamproof.stream.emissions import EMISSIONS, Emission
from streamproof.stream.windows import Session, Window


def emission_named(emit: Any, window: Window) -> Emission:
    """The emission of a name, for windows of a kind.

    Raises
    ------
    JobDefinitionError
        If there is none of that name, or Spark does not have it for such windows.
    """
    found = EMISSIONS.get(emit) if isinstance(emit, str) else None
    if found is None:
        near = get_close_matches(str(emit), EMISSIONS, n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise JobDefinitionError(
            f"window(emit={emit!r}) is no emission.{hint}",
            required='"final": each window once, when it can no longer change. "corrections": when it is on time, and again for what comes late. '
            '"early": whenever it changes.',
        )
    if found.revised and isinstance(window, Session):
        raise JobDefinitionError(
            f'window({window}, emit="{emit}"): sessions have no rows before they are final.',
            required="Two sessions become one when an event falls between them: a row that was given for one of them could not be taken back.",
            remedy='Leave emit out. For running counts of a key take sp.hopping("30 minutes", every="1 minute").',
        )
    return found
