"""Whether a start goes on from a copy of a checkpoint."""

from pathlib import Path

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.verify.sound import verify
from streamproof.errors import StreamproofError


def damage_of_point(copy: Path, batch: int) -> str | None:
    """Why a start does not go on from a point, as a sentence; None if it does."""
    try:
        seen = verify(inspect_checkpoint(copy))
    except StreamproofError as problem:
        return problem.message
    if batch in seen.sound and (seen.is_sound or seen.goes_on):
        return None
    return next((problem.says for problem in seen.problems), "its newest batch cannot be gone on from.")
