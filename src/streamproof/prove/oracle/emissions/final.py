"""The twin of final rows."""

from collections.abc import Collection

from streamproof.prove.oracle.emissions.emission import Given, PlainEmission
from streamproof.prove.oracle.open_windows import Windows
from streamproof.prove.oracle.rows import WindowKey


class PlainFinal(PlainEmission):
    """A window gives its row when the watermark has reached its end, and is gone."""

    def give(self, windows: Windows, changed: Collection[WindowKey], watermark_us: int) -> Given:
        due = windows.due(watermark_us)
        return Given(due, dict.fromkeys(due, 0), sum(contents.count for contents in due.values()))
