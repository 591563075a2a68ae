"""Where a program says that its checkpoint lies."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from streamproof.doctor.text.program import HOLE, Program
from streamproof.doctor.text.syntax import method_of

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
    if method_of(call) in ("option", "set", "config") and len(call.args) == 2:
        name = program.constant(call.args[0])
        if name is not None and name.lower() in (LOCATION, SETTING):
            yield call.args[1]
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg.lower() == LOCATION:
            yield keyword.value
    for inner in [keyword.value for keyword in call.keywords if keyword.arg is None]:
        for one in [inner, *(program.assigned(inner.id, inner) if isinstance(inner, ast.Name) else [])]:
            if isinstance(one, ast.Dict):
                yield from (
                    value
                    for key, value in zip(one.keys, one.values, strict=True)
                    if key is not None and (program.constant(key) or "").lower() == LOCATION
                )
