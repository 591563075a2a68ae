"""What a run notices of its sources while it reads them, such as subfolders that it leaves out; each thing is said once."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streamproof.core.notes import Note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.connectors.source import Source


class Noticed:
    """Looks after each batch of a query, and at the end of a run, what there is to say of the sources that it reads."""

    def __init__(self, spark: "SparkSession", sources: "Iterable[Source]") -> None:
        self._notices = [notices for source in sources if (notices := source.notices(spark)) is not None]
        self._said: set[str] = set()

    def look(self) -> list[Note]:
        """What was not said yet."""
        new = [note for notices in self._notices for note in notices.look() if note not in self._said]
        self._said.update(new)
        return new
