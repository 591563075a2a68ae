"""`pytest -n 3 --dist loadfile`: whole files to each process, the longest first, and lines that say what runs. `--measure` writes down how long."""

from functools import partial
from pathlib import Path
from time import strftime

import pytest

from side_by_side import measured
from side_by_side.told import Told

_SERVICE = "service of its process"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--measure", action="store_true", help="write into tests/measured_seconds.toml what the files of this run take"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # a process with tests, which reports to another
        return
    if config.getoption("dist", "no") == "loadfile":
        config.pluginmanager.register(Told(partial(_say, config)))
    if config.getoption("measure"):
        config.pluginmanager.register(_Writing(config.rootpath))


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    if config.getoption("dist") != "loadfile":
        return None
    from side_by_side.longest_first import LongestFirst

    return LongestFirst(config, log, measured.read(), partial(_say, config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("measure"):
        for item in items:
            shared = set(measured.SERVICES) & set(getattr(item, "fixturenames", ()))
            item.user_properties.extend((_SERVICE, name) for name in sorted(shared))


def _say(config: pytest.Config, line: str) -> None:
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        reporter.write_line(f"{strftime('%H:%M:%S')} {line}", flush=True)


class _Writing:
    """Writes the file once all tests have run."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._measuring = measured.Measuring()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        on_services = any(name == _SERVICE for name, _ in report.user_properties)
        self._measuring.heard(report.nodeid, report.duration, on_services=on_services)

    def pytest_sessionfinish(self) -> None:
        found = self._measuring.result(measured.read(), self._root)
        measured.FILE.write_text(found.as_toml(), encoding="utf-8")
