"""Gives the longest of what is left to the process that is free: no process ends with a long file while the others have nothing more to do."""

import math
from collections.abc import Callable

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from side_by_side.measured import Measured, file_of

Say = Callable[[str], None]
_WORTH_A_LINE = 5.0


class LongestFirst(LoadScopeScheduling):
    """The scheduler of pytest-xdist for whole files, in another order and without files in reserve.

    The original begins with the file that has the most tests. It gives each process a second file once two tests of the first are left, which may
    be two minutes each. A process cannot begin its last test without knowing the next one, so it gets another file when one test is left.
    """

    def __init__(self, config: pytest.Config, log: Producer, measured: Measured, say: Say) -> None:
        super().__init__(config, log)
        self._measured, self._say = measured, say
        self._took: dict[str, float] = {}

    def _split_scope(self, nodeid: str) -> str:
        return self._measured.unit(file_of(nodeid))

    def _seconds(self, unit: str) -> float:
        return self._measured.seconds_of({file_of(nodeid) for nodeid in self.workqueue[unit]})

    def _assign_work_unit(self, node: WorkerController) -> None:
        longest = max(self.workqueue, key=self._seconds)
        seconds = self._seconds(longest)
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
        if seconds >= _WORTH_A_LINE:
            expected = "nobody knows how long" if math.isinf(seconds) else f"some {seconds:.0f} s"
            self._say(f"{node.gateway.id} gets {longest}: {expected}")

    def _reschedule(self, node: WorkerController) -> None:
        if self.workqueue and self._pending_of(self.assigned_work[node]) > 1:
            return
        super()._reschedule(node)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        unit = self._split_scope(self.registered_collections[node][item_index])
        self._took[unit] = self._took.get(unit, 0.0) + duration
        super().mark_test_complete(node, item_index, duration)
        if all(self.assigned_work[node][unit].values()) and self._took[unit] >= _WORTH_A_LINE:
            self._say(f"{node.gateway.id} has {unit} behind it: {self._took[unit]:.0f} s")
