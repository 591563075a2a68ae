"""What a query's batches are watched for, beside its rows: nobody is stopped by it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.watching.events import QueryEvents, WatermarkLeapt
from streamproof.runtime.watching.figures import Times
from streamproof.runtime.watching.hot_keys import Counted, HotKeys
from streamproof.runtime.watching.idle import IdleSources
from streamproof.runtime.watching.leaps import Leaps
from streamproof.runtime.watching.noticed import Noticed
from streamproof.runtime.watching.quiet import QuietSources

if TYPE_CHECKING:
    from streamproof._jvm import BatchRows


@dataclass
class Watch:
    """Told each batch of a query: watermarks that leap, sources that deliver nothing, folders of files that change, keys that have
    most of the rows.
    """

    leaps: Leaps
    quiet: QuietSources
    idle: IdleSources
    noticed: Noticed
    hot_keys: HotKeys

    def saw(self, batch: int, logs: BatchLogs, rows: "BatchRows", late: int, events: QueryEvents) -> None:
        """Looks at a batch that is published, of which `late` records were late."""
        events.note(*self.noticed.look())
        self.quiet.saw(batch, logs)
        self.idle.saw(logs, rows)
        leap = self.leaps.saw(batch, logs, late)
        if leap is not None:
            events.emit(WatermarkLeapt(leap.query, leap.batch, leap.before, leap.after))

    def saw_keys(self, batch: int, counted: Mapping[str, Counted], rows: "BatchRows", events: QueryEvents) -> None:
        """Looks at what the tasks of a batch have counted by key."""

        def times() -> Times | None:
            found = rows.times(batch)
            return None if found is None else Times(**found)

        for found in self.hot_keys.saw(batch, counted, times):
            events.emit(found)
