"""How a run or a proof came to its end."""

from enum import StrEnum
from typing import Any


class End(StrEnum):
    """A code for programs; what is said to people is made from it."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    FIRST_FAILURE = "first-failure"
    TIME_BUDGET = "time-budget"
    MAX_SCENARIOS = "max-scenarios"
    NOT_REPEATABLE = "not-repeatable"


class ProofInterrupted(KeyboardInterrupt):
    """A proof was asked to end; `proof` (`streamproof.proof.Proof`) is what was finished by then, and its report is written."""

    def __init__(self, proof: Any) -> None:
        self.proof = proof
        super().__init__(proof)  # it is sent from process to process
