"""The twin of running results."""

from collections.abc import Collection
from dataclasses import dataclass, field

from streamproof.prove.oracle.emissions.emission import Given, PlainEmission, Revisions
from streamproof.prove.oracle.open_windows import Windows
from streamproof.prove.oracle.rows import WindowKey


@dataclass
class PlainEarly(PlainEmission):
    """Every window that a batch has changed gives a row."""

    revisions: Revisions = field(default_factory=Revisions)

    def give(self, windows: Windows, changed: Collection[WindowKey], watermark_us: int) -> Given:
        given = self.revisions.given({key: contents for key, contents in windows.frozen().items() if key in changed})
        windows.due(watermark_us)
        return given
