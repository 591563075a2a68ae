"""What the oracle has to know of an emission."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from streamproof.prove.oracle.open_windows import Windows
from streamproof.prove.oracle.rows import WindowContents, WindowKey


@dataclass(frozen=True)
class Given:
    """The windows that give a row in a batch, with what they hold; of each its revision, and how many records no row had before."""

    windows: Mapping[WindowKey, WindowContents]
    revisions: Mapping[WindowKey, int]
    new: int


class PlainEmission(ABC):
    """When windows give rows; one object per run, since revisions go on."""

    @abstractmethod
    def give(self, windows: Windows, changed: Collection[WindowKey], watermark_us: int) -> Given:
        """What a batch gives, whose records are in their windows by now; windows that are over are gone afterwards.

        Parameters
        ----------
        changed
            The windows that the batch has added records to.
        """


@dataclass
class Revisions:
    """What each window has given so far: how many rows, and how many records were in the last of them."""

    rows: dict[WindowKey, int] = field(default_factory=dict)
    records: dict[WindowKey, int] = field(default_factory=dict)

    def given(self, windows: Mapping[WindowKey, WindowContents]) -> Given:
        """The next row of each of the windows."""
        revisions, new = {}, 0
        for key, contents in windows.items():
            revisions[key] = self.rows.get(key, 0)
            new += contents.count - self.records.get(key, 0)
            self.rows[key] = revisions[key] + 1
            self.records[key] = contents.count
        return Given(windows, revisions, new)
