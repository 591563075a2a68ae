"""Durable steps outside the checkpoint's file system: a sink says when it takes one, so that a proof can crash right there."""

from dataclasses import dataclass

from streamproof.core.phases import Phase, Side, StepName


@dataclass(frozen=True)
class Steps:
    """Told before and after each step; in production nobody listens. It travels to the tasks that publish, so it can be pickled."""

    def before(self, kind: str, batch: int) -> None:
        """The step `publish/KIND@BATCH` is about to be taken."""
        self.reached(StepName(Phase.PUBLISH, kind, batch, Side.BEFORE))

    def after(self, kind: str, batch: int) -> None:
        """The step is durable."""
        self.reached(StepName(Phase.PUBLISH, kind, batch, Side.AFTER))

    def reached(self, step: StepName) -> None:
        """Does nothing; a proof's kind writes the step down, and ends the process where it is told to."""


UNWATCHED = Steps()
