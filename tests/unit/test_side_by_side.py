"""The processes of `make test`: which files they get, in which order, and what is said meanwhile."""

import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from side_by_side import measured
from side_by_side.told import Told

pytest_plugins = ("pytester",)

TEST = """
import os
from pathlib import Path

import pytest

@pytest.mark.parametrize("n", range({tests}))
def test_it(n{fixture}):
    with (Path(__file__).parent / "ran").open("a") as ran:
        ran.write(f"{{os.environ.get('PYTEST_XDIST_WORKER')}} {{Path(__file__).stem}}\\n")
"""
CONFTEST = """
from pathlib import Path

import pytest

from side_by_side import measured

measured.FILE = Path(__file__).parent / "measured.toml"
pytest_plugins = ("side_by_side.plugin",)

@pytest.fixture(scope="session")
def kafka():
    return 1
"""
Run = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs files of so many tests each, of which these seconds are known; gives each process with the file of a test, in their order."""

    def run(tests: dict[str, int], known: str, *options: str, fixture: str = "", passed: int = 0) -> list[tuple[str, str]]:
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
        pytester.makeconftest(CONFTEST)
        for name, number in tests.items():
            pytester.makepyfile(**{name: TEST.format(tests=number, fixture=f", {fixture}" if fixture else "")})
        (pytester.path / "measured.toml").write_text(known)
        options = (*options, "-p", "no:cacheprovider")
        result = pytester.runpytest_subprocess(*options)
        result.assert_outcomes(passed=passed or sum(tests.values()))
        pytester.said = result.outlines  # type: ignore[attr-defined]
        return [tuple(line.split()) for line in (pytester.path / "ran").read_text().splitlines()]  # type: ignore[misc]

    return run


def in_order(ran: list[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys(file for _, file in ran))


def test_the_longest_file_comes_first_and_one_that_nobody_knows_before_it_and_that_is_said(run: Run, pytester: pytest.Pytester):
    known = '[seconds]\n"test_many.py" = 1.0\n"test_long.py" = 90.0\n"test_longer.py" = 100.0\n"test_short.py" = 0.1\n'
    tests = {"test_long": 2, "test_longer": 1, "test_many": 9, "test_new": 2, "test_short": 3}

    assert in_order(run(tests, known, "-n", "1", "--dist", "loadfile")) == [
        "test_new",
        "test_longer",
        "test_long",
        "test_many",
        "test_short",
    ]
    lines = "\n".join(pytester.said)  # type: ignore[attr-defined]
    assert "gw0 gets test_new.py: nobody knows how long" in lines
    assert "gw0 gets test_longer.py: some 100 s" in lines
    assert "gw0 gets test_short.py" not in lines


def test_a_file_stays_in_one_process_and_files_that_share_a_service_do_too(run: Run):
    names = [f"test_{name}" for name in "abcdef"]
    seconds = "".join(f'"{name}.py" = 1.0\n' for name in names)
    known = f'on_services = ["test_b.py", "test_d.py", "test_f.py"]\n[seconds]\n{seconds}'

    ran = set(run(dict.fromkeys(names, 3), known, "-n", "2", "--dist", "loadfile"))

    assert len(ran) == len(names), "each file ran in one process"
    assert len({process for process, file in ran if file in ("test_b", "test_d", "test_f")}) == 1
    assert len({process for process, _ in ran}) == 2


@pytest.mark.parametrize("options", [(), ("-n", "2", "--dist", "loadfile")], ids=["one process", "two"])
def test_what_files_take_is_written_and_of_others_kept_as_long_as_they_are_there(
    run: Run, pytester: pytest.Pytester, options: tuple[str, ...]
):
    pytester.makepyfile(test_b="def test_without_services():\n    pass\n", test_other="")
    known = 'on_services = ["test_gone.py", "test_other.py"]\n[seconds]\n"test_gone.py" = 1.0\n"test_other.py" = 7.0\n'
    run({"test_a": 2}, known, "--measure", *options, fixture="kafka", passed=3)

    found = tomllib.loads((pytester.path / "measured.toml").read_text())
    assert found["seconds"].keys() == {"test_a.py", "test_b.py", "test_other.py"}
    assert found["seconds"]["test_other.py"] == 7.0
    assert found["on_services"] == ["test_a.py", "test_other.py"]


def test_the_file_of_this_repository_can_be_read():
    known = measured.read()

    assert len(known.seconds) > 100
    assert set(known.on_services) <= known.seconds.keys()


def test_a_test_that_does_not_end_is_named_while_it_runs():
    said: list[str] = []
    named = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        named.set()

    told = Told(say, every=0.05)
    told.pytest_sessionstart()
    told.pytest_runtest_logstart("tests/a.py::test_over")
    told.pytest_runtest_logfinish("tests/a.py::test_over")
    told.pytest_runtest_logstart("tests/a.py::test_hangs")
    assert named.wait(60)
    told.pytest_sessionfinish()

    assert {line.rpartition(" ")[2] for line in said} == {"tests/a.py::test_hangs"}


def test_a_failure_is_said_at_once():
    said: list[str] = []
    report = SimpleNamespace(
        failed=True, node=SimpleNamespace(gateway=SimpleNamespace(id="gw1")), nodeid="tests/a.py::test", when="call"
    )
    Told(said.append).pytest_runtest_logreport(report)  # type: ignore[arg-type]

    assert said == ["gw1 FAILED tests/a.py::test (call)"]
