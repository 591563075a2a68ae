"""The pytest plugin: `pytest --streamproof` turns a job into one test for each of its crashes. See docs/guides/pytest.md.

It is loaded by every pytest where Streamproof is installed, so that nothing of Streamproof or PySpark is imported before it is used.
"""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.proof import Proof
    from streamproof.proved_once import Job, Proofs, Proved
    from streamproof.report.shape import ScenarioEntry

MARKER = "streamproof"
SCENARIO = "streamproof_scenario"
_PLANS: Mapping[str, Mapping[str, bool]] = {"quick": {"quick": True}, "standard": {}, "full": {"full": True}}
_SHARED = "streamproof_folder"
_GROUP = "streamproof-"


@dataclass
class _Session:
    """The proofs of this session, and by job the scenarios that are left after -k and the like; `own_folder` goes with it."""

    proofs: "Proofs"
    folder: Path
    is_worker: bool
    wanted: dict[str, set[str]] = field(default_factory=dict)
    listed: dict[str, set[str]] = field(default_factory=dict)


_SESSION = pytest.StashKey[_Session]()
_FAILURE = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamproof", "proofs of streaming jobs")
    group.addoption("--streamproof", action="store_true", help="Prove the jobs of marked tests: a test for each of their crashes.")
    group.addoption("--streamproof-seed", type=int, metavar="N", help="The same with another seed: other events, another order.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f'{MARKER}(target, plan="quick", only=None, seed=None, split=True, **options): proves a job, a test for each crash; '
        "needs --streamproof.",
    )
    if not _is_on(config):
        return
    from streamproof.proved_once import Proofs

    worker: Mapping[str, Any] = getattr(config, "workerinput", {})
    folder = Path(worker[_SHARED]) if _SHARED in worker else Path(tempfile.mkdtemp(prefix="streamproof-"))
    config.stash[_SESSION] = _Session(Proofs(folder), folder, _SHARED in worker)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Of pytest-xdist: a worker hears where the proofs of this session are."""
    if _SESSION in node.config.stash:
        node.workerinput[_SHARED] = str(node.config.stash[_SESSION].folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    session = config.stash.get(_SESSION, None)
    if session is not None and not session.is_worker:
        shutil.rmtree(session.folder, ignore_errors=True)


def _is_on(config: pytest.Config) -> bool:
    return bool(config.getoption("--streamproof")) or config.getoption("--streamproof-seed") is not None


# -- which tests there are


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each scenario of the job; one test in all without --streamproof, or where the marker says so."""
    mark = metafunc.definition.get_closest_marker(MARKER)
    if mark is None:
        return
    if SCENARIO not in metafunc.fixturenames:
        metafunc.fixturenames.append(SCENARIO)
    session = metafunc.config.stash.get(_SESSION, None)
    if session is None or not mark.kwargs.get("split", True):
        return
    job = _job(mark, metafunc.definition.path, metafunc.config)
    ids = _listed(session, job, metafunc.config)
    session.listed[job.key] = set(ids)
    together = [pytest.mark.xdist_group(f"{_GROUP}{job.key}")] if metafunc.config.pluginmanager.hasplugin("xdist") else []
    metafunc.parametrize(SCENARIO, [pytest.param(name, id=name, marks=together) for name in ids], indirect=True)


def _listed(session: _Session, job: "Job", config: pytest.Config) -> list[str]:
    from streamproof.proved_once import NotProved

    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None and not session.is_worker and job.key not in session.listed and config.get_verbosity() >= 0:
        reporter.write_line(f"streamproof: {job.target} is recorded once, to list its crash points")
    try:
        return session.proofs.ids(job)
    except NotProved as problem:
        raise pytest.Collector.CollectError(str(problem)) from None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _is_on(config):
        return
    for item in items:
        if item.get_closest_marker(MARKER) is not None:
            item.add_marker(pytest.mark.skip(reason="a proof takes a minute or more; run it with: pytest --streamproof"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Only what -k, -m and ids on the command line have left is proved."""
    ours = session.config.stash.get(_SESSION, None)
    for item in session.items if ours is not None else ():
        mark, name = item.get_closest_marker(MARKER), _name_of(item)
        if ours is not None and mark is not None and name is not None:
            ours.wanted.setdefault(_job(mark, item.path, session.config).key, set()).add(name)


def _name_of(item: pytest.Item) -> str | None:
    """The scenario that an item is a test of; None where it is one of the whole plan."""
    found = getattr(item, "callspec", None)
    return None if found is None else found.params.get(SCENARIO)


def _job(mark: pytest.Mark, test: Path, config: pytest.Config) -> "Job":
    from streamproof.proved_once import Job

    arguments = dict(mark.kwargs)
    target = mark.args[0] if mark.args else arguments.pop("target", None)
    plan, seed = arguments.pop("plan", "quick"), config.getoption("--streamproof-seed")
    arguments.pop("split", None)
    if target is None or plan not in _PLANS or len(mark.args) > 1:
        raise pytest.UsageError(
            f"{test}: @pytest.mark.streamproof takes a job and a plan, {', '.join(_PLANS)}: "
            f'@pytest.mark.streamproof("my_job", plan="quick").'
        )
    if seed is not None:
        arguments["seed"] = seed
    options = {name: value for name, value in arguments.items() if value is not None}
    if "inputs" in options:
        options["inputs"] = {name: _sample_beside(one, test) for name, one in options["inputs"].items()}
    return Job(_beside(str(target), test), {**_PLANS[plan], **options})


def _beside(target: str, test: Path) -> str:
    """A target as the test's file names it: beside the file if it is there, else from where pytest runs."""
    path, colon, function = target.partition(":")
    beside = test.parent / path
    return f"{beside}{colon}{function}" if beside.exists() else target


def _sample_beside(given: Any, test: Path) -> Any:
    """A sample, and the file of its schema, as the test's file names them: beside it if they are there, else from where pytest runs."""
    from streamproof.prove.scenario.declared import SampleFile

    def beside(text: str) -> str:
        kafka, path = ("kafka:", text.removeprefix("kafka:")) if text.startswith("kafka:") else ("", text)
        try:
            there = (test.parent / path).is_file()
        except (OSError, ValueError):
            there = False
        return f"{kafka}{test.parent / path}" if there else text

    one = given if isinstance(given, SampleFile) else SampleFile(str(given))
    return SampleFile(beside(one.path), None if one.schema is None else beside(one.schema))


# -- what they say


@pytest.fixture
def streamproof_scenario(request: pytest.FixtureRequest) -> "ScenarioEntry | None":
    """The scenario of this test as the report has it; None in a test of the whole plan. The first one of a job proves it."""
    mark = request.node.get_closest_marker(MARKER)
    session = request.config.stash.get(_SESSION, None)
    if mark is None or session is None:
        pytest.fail("streamproof_scenario is for tests that are marked @pytest.mark.streamproof(...).", pytrace=False)
    from streamproof.proved_once import NotProved

    job, name = _job(mark, request.node.path, request.config), getattr(request, "param", None)
    wanted, listed = session.wanted.get(job.key, set()), session.listed.get(job.key, set())
    try:
        proved = _proved(session, job, [] if name is None or wanted == listed else sorted(wanted), request.config)
    except NotProved as problem:
        request.node.stash[_FAILURE] = str(problem)
        return None
    entry = proved.scenario(name) if name is not None else None
    failure = _failure(proved, entry, name, listed, _replay(request.node, proved.report["seed"]))
    if failure:
        request.node.stash[_FAILURE] = failure
    return entry


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """A scenario that did not pass fails its test before the test's own lines run."""
    failure = pyfuncitem.stash.get(_FAILURE, None)
    if failure is not None:
        pytest.fail(failure, pytrace=False)


def _proved(session: _Session, job: "Job", wanted: Sequence[str], config: pytest.Config) -> "Proved":
    capture = config.pluginmanager.getplugin("capturemanager")
    if session.is_worker or capture is None or config.get_verbosity() < 0:
        return session.proofs.proved(job, wanted)
    with capture.global_and_fixture_disabled():  # so that the progress is seen
        if (reporter := config.pluginmanager.getplugin("terminalreporter")) is not None:
            reporter.ensure_newline()
        return session.proofs.proved(job, wanted, progress=True)


def _failure(proved: "Proved", entry: "ScenarioEntry | None", name: str | None, listed: set[str], replay: str) -> str | None:
    """Why a test fails; None where it passes. That of the run without a fault answers for all that no other test answers for."""
    from streamproof.proved_once import FAULT_FREE
    from streamproof.report import explain
    from streamproof.report.incident import incident, unproved

    report = proved.report
    if name is not None and entry is None:
        return f"{name} was not tried: this recording has other steps than the one the tests were listed from.\nreplay: {replay}"
    if entry is not None and entry["verdict"] != "pass":
        return incident(report, entry, replay, page=proved.page)
    if name not in (None, FAULT_FREE):
        return None
    others = [one for one in explain.worst_first(report) if one["verdict"] != "pass" and (name is None or one["id"] not in listed)]
    if others:
        more = f"\n{len(others) - 1} more scenarios did not pass" if len(others) > 1 else ""
        return incident(report, others[0], replay, page=proved.page) + more
    if report["verdict"] == "unknown" and not any(one["verdict"] != "pass" for one in report["scenarios"]):
        return unproved(report, [explain.sentence(report)], replay, page=proved.page)
    return None


def _replay(item: pytest.Item, seed: int) -> str:
    name = item.nodeid.partition(f"@{_GROUP}")[0]  # pytest-xdist adds the group
    return f'pytest "{name}" --streamproof-seed {seed}'


# -- for tests of one's own


@pytest.fixture(scope="session")
def streamproof_session() -> "SparkSession":
    """A Spark session as proofs have it: two cores, RocksDB state, UTC. Proofs of this process run on it, and it stays open for them."""
    from streamproof.prove.process.engine import Engine

    return Engine("pytest", {}).spark


@pytest.fixture
def streamproof_events(request: pytest.FixtureRequest) -> "Callable[..., Mapping[str, Sequence[Any]]]":
    """Makes the events of a job's scenario by source: `streamproof_events("my_job", events=100)["trades"]`; needs no Spark."""

    def made(target: str | Path, *, seed: int | None = None, events: int | None = None) -> Mapping[str, Sequence[Any]]:
        from streamproof.config import load
        from streamproof.prove.scenario.scenario import load_scenario
        from streamproof.prove.subjects.job.writing import make_events

        config = load(_beside(str(target), request.path))
        other = seed if seed is not None else request.config.getoption("--streamproof-seed")
        return make_events(config, load_scenario(config.root, seed=other, events=events))

    return made


@pytest.fixture
def prove(request: pytest.FixtureRequest, tmp_path: Path) -> "Callable[..., Proof]":
    """Proves a target as `streamproof.prove` does, with its report below the test's tmp_path: `assert prove("my_job", quick=True)`."""
    count = 0

    def proved(target: str | Path, **options: Any) -> "Proof":
        from streamproof.proof import prove

        nonlocal count
        count += 1
        seed = request.config.getoption("--streamproof-seed")
        options.setdefault("report", tmp_path / (f"proof-{count}" if count > 1 else "proof"))
        return prove(_beside(str(target), request.path), **({} if seed is None else {"seed": seed}) | options)

    return proved
