"""What is seen of tests in several processes while they run: files, failures at once, and each minute what runs for longer than one."""

import threading
from collections.abc import Callable
from time import monotonic

import pytest

_SECONDS = 60.0


class Told:
    """Says it in the process that the others report to. A test that hangs is named every minute, long before it is ended."""

    def __init__(self, say: Callable[[str], None], *, every: float = _SECONDS) -> None:
        self._say, self._every = say, every
        self._running: dict[str, float] = {}
        self._over = threading.Event()

    def pytest_sessionstart(self) -> None:
        threading.Thread(target=self._look, daemon=True).start()

    def pytest_sessionfinish(self) -> None:
        self._over.set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._running.pop(nodeid, None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._say(f"{report.node.gateway.id} FAILED {report.nodeid} ({report.when})")  # type: ignore[attr-defined]

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letter for a test: thousands of them, of all processes, hide the lines."""
        if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            return "passed", "", ""
        if report.failed and not hasattr(report, "wasxfail"):
            return ("failed" if report.when == "call" else "error"), "", ""
        return None

    def _look(self) -> None:
        while not self._over.wait(self._every):
            now = monotonic()
            for nodeid, began in list(self._running.items()):
                if now - began >= self._every:
                    self._say(f"for {now - began:.0f} s runs {nodeid}")
