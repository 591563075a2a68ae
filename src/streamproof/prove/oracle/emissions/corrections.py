"""The twin of corrections."""

from collections.abc import Collection
from dataclasses import dataclass, field

from streamproof.prove.oracle.emissions.emission import Given, PlainEmission, Revisions
from streamproof.prove.oracle.open_windows import Windows
from streamproof.prove.oracle.rows import WindowKey


@dataclass
class PlainCorrections(PlainEmission):
    """A window gives a row once watermark + allowed lateness has reached its end, then one in every batch that changes it."""

    lateness_us: int
    revisions: Revisions = field(default_factory=Revisions)

    def give(self, windows: Windows, changed: Collection[WindowKey], watermark_us: int) -> Given:
        on_time = {
            key: contents for key, contents in windows.frozen().items() if contents.end_us <= watermark_us + self.lateness_us
        }
        given = self.revisions.given(
            {key: contents for key, contents in on_time.items() if key in changed or key not in self.revisions.rows}
        )
        windows.due(watermark_us)
        return given
