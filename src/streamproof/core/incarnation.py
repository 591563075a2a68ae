"""The incarnation of a checkpoint: a random id, written before its first batch (R1)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from streamproof.core.formats import Format, require_keys

FORMAT = Format("an incarnation")


@dataclass(frozen=True)
class Incarnation:
    """Whose checkpoint it is, its id, the instant it was made (ISO 8601), and the version that made it."""

    job: str
    query: str
    incarnation: str
    created: str = ""
    version: str = ""

    def to_json(self) -> str:
        return FORMAT.text(asdict(self))

    @classmethod
    def from_json(cls, text: str, *, where: str = "") -> "Incarnation":
        """The incarnation that `text` holds; ValueError if it is torn, UnknownFormat if its format is not known (R30)."""
        return FORMAT.read(text, where, cls._made)

    @classmethod
    def _made(cls, found: Mapping[str, Any]) -> "Incarnation":
        require_keys(cls, found)
        return cls(**found)
