"""What a query's batches are watched for, beside its rows: nobody is stopped by it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.watching.events import QueryEvents, WatermarkLeapt
from streamproof.runtime.watching.idle import IdleSources
from streamproof.runtime.watching.leaps import Leaps
from streamproof.runtime.watching.noticed import Noticed
from streamproof.runtime.watching.quiet import QuietSources

if TYPE_CHECKING:
    from streamproof._jvm import BatchRows


@dataclass
class Watch:
    """Told each batch of a query: watermarks that leap, sources that deliver nothing, folders of files that change."""

    leaps: Leaps
    quiet: QuietSources
    idle: IdleSources
    noticed: Noticed

    def saw(self, batch: int, logs: BatchLogs, rows: "BatchRows", late: int, events: QueryEvents) -> None:
        """Looks at a batch that is published, of which `late` records were late."""
        events.note(*self.noticed.look())
        self.quiet.saw(batch, logs)
        self.idle.saw(logs, rows)
        leap = self.leaps.saw(batch, logs, late)
        if leap is not None:
            events.emit(WatermarkLeapt(leap.query, leap.batch, leap.before, leap.after))
