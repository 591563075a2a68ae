"""Each window once, when it can no longer change."""

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof.stream.emissions.emission import Emission

if TYPE_CHECKING:
    from pyspark.sql import Column

    from streamproof.stream.doors import Doors


class Final(Emission):
    """`emit="final"`: what is in state has not been emitted."""

    name: ClassVar[str] = "final"
    output_mode: ClassVar[str] = "append"
    revised: ClassVar[bool] = False

    def gives(self, lateness: timedelta, doors: "Doors") -> "Column":
        raise AssertionError("a final row is given by Spark, when it drops the window")

    def emitted_up_to(self, watermark_us: int, lateness_us: int) -> int | None:
        return None
