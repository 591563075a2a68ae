"""Where a program says that its checkpoint lies."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from streamproof.doctor.text.options import given_options
from streamproof.doctor.text.program import HOLE, Program

LOCATION = "checkpointlocation"
SETTING = "spark.sql.streaming.checkpointlocation"


@dataclass(frozen=True)
class Mention:
    """A place in the text that names a checkpoint.

    Parameters
    ----------
    given
        The expression that stands there.
    text
        It as far as it is known, with "{}" for what is not; None where nothing of it is.
    """

    node: ast.Call
    given: ast.expr
    text: str | None

    @property
    def is_whole(self) -> bool:
        return self.text is not None and HOLE not in self.text


def mentioned(program: Program) -> Iterator[Mention]:
    """The checkpoints that a program names: as an option of a writer, as an argument of a function of its own, as a setting of Spark."""
    for call in program.calls:
        for given in _given(program, call):
            yield Mention(call, given, program.constant(given))


def _given(program: Program, call: ast.Call) -> Iterator[ast.expr]:
    return (value for name, value in given_options(program, call) if name.lower() in (LOCATION, SETTING))
