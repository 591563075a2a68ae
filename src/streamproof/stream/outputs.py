"""What a job returns: main outputs and the side outputs it names."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.operators import Union
from streamproof.stream.recipe import Recipe

if TYPE_CHECKING:
    from streamproof.stream.stream import Stream


class SideKind(StrEnum):
    """Why a record left the main path."""

    LATE = "late"
    REJECTED = "rejected"
    DUPLICATE = "duplicate"


@dataclass(frozen=True)
class SideOutput:
    """The records that leave a stream by its side: `stream.late`, `stream.rejected`, `stream.duplicates`."""

    kind: SideKind
    recipe: Recipe


class Outputs:
    """The named outputs of a job: `sp.Outputs(exposure=exposure, late=exposure.late)`.

    Raises
    ------
    JobDefinitionError
        If there is no main output, a value is neither a stream nor a side output, or a side output belongs to none of the
        main outputs.
    """

    def __init__(self, **outputs: "Stream | SideOutput") -> None:
        from streamproof.stream.stream import Stream, WindowedStream

        self.main: Mapping[str, Recipe] = {name: value.recipe for name, value in outputs.items() if isinstance(value, Stream)}
        self.side: Mapping[str, SideOutput] = {name: value for name, value in outputs.items() if isinstance(value, SideOutput)}
        for name, value in outputs.items():
            if isinstance(value, WindowedStream):
                raise JobDefinitionError(
                    f"Outputs({name}=...) is a window without an aggregate.", remedy="Add .aggregate(total=F.sum(...))."
                )
            if not isinstance(value, Stream | SideOutput):
                raise JobDefinitionError(
                    f"Outputs({name}=...) is a {type(value).__name__}.",
                    required="An output is a Stream or a side output such as stream.late.",
                )
            if not name.isidentifier() or name.startswith("_"):
                raise JobDefinitionError(f"Outputs({name}=...): an output's name is a word that does not begin with an underscore.")
        if not self.main:
            raise JobDefinitionError("The job returns no main output.", required="Outputs(...) takes at least one Stream.")
        for name, side in self.side.items():
            if not any(_belongs(side, recipe) for recipe in self.main.values()):
                raise JobDefinitionError(
                    f"Outputs({name}=...) is the {side.kind} output of a stream that no main output is made from.",
                    remedy="Return the stream as a main output too, or take the side output from one that is returned.",
                )

    def sides_of(self, query: str) -> dict[SideKind, str]:
        """The side outputs that the query of a main output delivers: kind to name.

        Late and duplicate rows belong to one query; rejected ones, which are the same for all queries with the same steps, are delivered
        by the first query they belong to (R14).
        """
        recipe = self.main[query]
        found: dict[SideKind, str] = {}
        for name, side in self.side.items():
            owner = next(main for main, candidate in self.main.items() if _belongs(side, candidate))
            if owner == query and _belongs(side, recipe):
                if side.kind in found:
                    raise JobDefinitionError(
                        f"The outputs {found[side.kind]} and {name} are both the {side.kind} output of {query}."
                    )
                found[side.kind] = name
        return found


def _belongs(side: SideOutput, recipe: Recipe) -> bool:
    """Whether the stream that a side output is taken from leads to an output; of rejected ones also by the other side of a union."""
    if side.kind is SideKind.REJECTED and any(_belongs(side, step.other) for step in recipe.steps if isinstance(step, Union)):
        return True
    if side.recipe.source != recipe.source:
        return False
    if side.kind is not SideKind.REJECTED and len(side.recipe.steps) != len(recipe.steps):
        return False
    if len(side.recipe.steps) > len(recipe.steps):
        return False
    # By identity: comparing PySpark columns with == builds an expression.
    return all(mine is theirs for mine, theirs in zip(side.recipe.steps, recipe.steps, strict=False))
