"""`--expect`: what a user knows of a job and lets be, by name: so many rows lost as late, a state that is never freed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streamproof.errors import ScenarioError

LATE, UNBOUNDED_STATE = "late", "unbounded-state"
_LATE = re.compile(rf"{LATE}\s*=\s*(\d+)")


@dataclass(frozen=True)
class Expected:
    """What is let be.

    Parameters
    ----------
    late
        So many rows of the job's own, at most, that Spark drops as late; None where nothing was said, which allows none.
    unbounded_state
        Whether a state that is never freed is no finding.
    """

    late: int | None = None
    unbounded_state: bool = False

    @classmethod
    def parse(cls, words: Sequence[str]) -> "Expected":
        """From words such as "late=9" and "unbounded-state"; one word may hold several, with commas.

        Raises
        ------
        ScenarioError
            If a word is neither.
        """
        late, unbounded = None, False
        for word in (part.strip() for given in words for part in given.split(",")):
            found = _LATE.fullmatch(word)
            if found:
                late = int(found[1])
            elif word == UNBOUNDED_STATE:
                unbounded = True
            else:
                raise ScenarioError(
                    f"--expect {word or '(nothing)'} is not known.",
                    required=f'"{LATE}=N", so many rows of the job\'s own that Spark drops as late; or "{UNBOUNDED_STATE}", a state that is never freed.',
                    remedy=f'For example --expect "{LATE}=9" --expect {UNBOUNDED_STATE}',
                )
        return cls(late, unbounded)

    @property
    def late_at_most(self) -> int:
        return self.late or 0
