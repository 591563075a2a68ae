"""A JVM that is gone is told from any other connection that was refused, whatever its death made of the call that was under way."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark import SparkContext

from streamproof import _jvm
from streamproof.errors import (
    AccountError,
    EnvironmentProblem,
    JobDefinitionError,
    JvmGone,
    RegistryError,
    SinkUnavailable,
    StreamproofError,
)
from streamproof.runtime import run
from streamproof.runtime.spark import session
from streamproof.runtime.spark.failures import telling_of_a_dead_jvm, translated


def raised(problem: Exception, context: Exception, *, hidden: bool = False) -> Exception:
    """The problem as it comes from where another one was handled."""
    problem.__context__, problem.__suppress_context__ = context, hidden
    return problem


def thrown_in(module: str, problem: Exception) -> Exception:
    """The problem as a library raises it."""
    try:
        exec(compile("raise problem", f"/lib/site-packages/{module}", "exec"), {"problem": problem})
    except type(problem) as found:
        return found
    raise AssertionError


def test_only_what_py4j_says_counts():
    assert _jvm.is_gone(raised(RegistryError("stopped"), Py4JNetworkError("no JVM")))
    assert not _jvm.is_gone(raised(RegistryError("stopped"), ConnectionRefusedError("of the registry")))
    assert not _jvm.is_gone(raised(RegistryError("stopped"), Py4JNetworkError("no JVM"), hidden=True))
    assert not _jvm.is_gone(RegistryError("stopped"))


class Answer:
    """What py4j makes of an exception of Java's."""

    _target_id, _gateway_client = "o1", None


SAYS_SO = [
    Py4JNetworkError("Answer from Java side is empty"),
    Py4JNetworkError("Error while sending or receiving"),
    Py4JError("Answer from Java side is empty"),
    Py4JError("An error occurred while calling o1221.write"),
    Py4JError("An error occurred while calling None.None"),
    thrown_in("py4j/clientserver.py", ConnectionRefusedError(111, "Connection refused")),
    thrown_in("py4j/clientserver.py", ConnectionResetError(104, "Connection reset by peer")),
    thrown_in("py4j/java_gateway.py", BrokenPipeError(32, "Broken pipe")),
]
SAYS_NOTHING = [
    Py4JError("An error occurred while calling o1.write. Trace:\njava.lang.IllegalArgumentException: no\n"),
    Py4JError("io.streamproof.Doors does not exist in the JVM"),
    TypeError("'JavaPackage' object is not callable"),
    thrown_in("pyspark/serializers.py", EOFError()),
    thrown_in("pyspark/util.py", ConnectionResetError(104, "Connection reset by peer")),
    EnvironmentProblem("The Spark session that is running does not have Streamproof's Java classes."),
    SinkUnavailable("no answer"),
    StreamproofError("The query stopped"),
]


@pytest.fixture
def jvm(monkeypatch):
    """A process that stands for the JVM of this one; it lives until it is killed."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process))
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("problem", SAYS_SO, ids=repr)
def test_what_only_a_dead_jvm_leads_to_is_told_by_itself(problem):
    assert _jvm.is_gone(problem)
    assert type(translated(problem)) is JvmGone


@pytest.mark.parametrize("problem", SAYS_NOTHING, ids=repr)
def test_what_other_reasons_lead_to_as_well_is_told_by_the_process(problem, jvm):
    assert not _jvm.is_gone(problem)

    jvm.kill()
    jvm.wait()

    with pytest.raises(JvmGone) as told, telling_of_a_dead_jvm():
        raise problem
    assert told.value.exit_code == 75


def test_a_jvm_that_is_just_ending_is_waited_for(jvm):
    """Its connections end before its process does."""
    jvm.stdin.close()

    assert _jvm.is_gone(thrown_in("pyspark/serializers.py", EOFError()))


def test_an_exception_of_java_is_an_answer_of_a_jvm_that_lives(jvm):
    assert not _jvm.is_gone(Py4JJavaError("An error occurred while calling o1.write.\n", Answer()))


def test_whoever_asked_for_the_end_may_have_ended_the_jvm_too(jvm):
    jvm.kill()
    jvm.wait()
    with pytest.raises(KeyboardInterrupt), telling_of_a_dead_jvm(asked_to_end=lambda: True):
        raise SinkUnavailable("no answer")


def test_a_run_that_went_to_its_end_keeps_its_result(jvm):
    jvm.kill()
    jvm.wait()
    with pytest.raises(AccountError), telling_of_a_dead_jvm():
        raise AccountError("does not add up", result=None)


@pytest.mark.parametrize(
    ("ends", "kind"),
    [("kill -9 $$", JvmGone), ("kill -15 $$; sleep 5", JvmGone), ("exit 137", JvmGone), ("exit 1", EnvironmentProblem)],
)
@pytest.mark.parametrize("logged", [True, False])
def test_a_jvm_that_was_killed_while_spark_starts_is_told_from_one_that_refused_its_options(
    tmp_path: Path, monkeypatch, ends: str, kind: type[StreamproofError], logged: bool
) -> None:
    """By PySpark's own launch, and a script in the place of Spark's."""
    script = tmp_path / "bin" / "spark-submit"
    script.parent.mkdir()
    script.write_text(f"#!/bin/bash\necho Unrecognized option >&2\n{ends}\n")
    script.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setattr("pyspark.sql.SparkSession._instantiatedSession", None)
    monkeypatch.setattr(session, "find_java", lambda: None)
    monkeypatch.setattr(_jvm, "jars", lambda **_: [])
    log = tmp_path / "log"

    with pytest.raises(StreamproofError) as told:
        session.start_session("job", {}, log=log if logged else None)

    assert type(told.value) is kind
    if kind is EnvironmentProblem and logged:
        assert "Unrecognized option" in str(told.value)


PHASES = (
    "_session",
    "bind",
    "require_slots",
    "delete_outputs",
    "do_again_as_planned",
    "start_query",
    "_wait",
    "QueryFinishing",
    "end_all",
    "summary",
)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    "problem", [SAYS_SO[3], SAYS_NOTHING[1], SAYS_NOTHING[5]], ids=["no answer", "no class", "taken for another"]
)
def test_wherever_a_run_is_when_its_jvm_dies_it_says_so(phase, problem, jvm, monkeypatch):
    """Every step of `run_job` that speaks to the JVM, and what comes of it there."""
    config = SimpleNamespace(name="job", backup=None, trigger=SimpleNamespace(real_time=True))
    bound = SimpleNamespace(outputs=SimpleNamespace(main={"sums": None}))
    query = SimpleNamespace(name="sums", notes=[], stop=lambda: None, protocol=SimpleNamespace(finish=lambda *_: None))
    works = {
        "find_spark": lambda: None,
        "_session": lambda *_: SimpleNamespace(newSession=lambda: None),
        "bind": lambda *_, **__: bound,
        "require_slots": lambda *_: None,
        "delete_outputs": lambda *_: None,
        "do_again_as_planned": lambda *_: (),
        "start_query": lambda *_: query,
        "_wait": lambda *_: None,
    }
    for name, does in works.items():
        monkeypatch.setattr(run, name, does)
    heard: list[str] = []

    def dies(*_: object, **__: object) -> None:
        jvm.kill()
        jvm.wait()
        raise problem

    monkeypatch.setattr(run, phase, dies)
    if phase == "end_all":  # reached by a run that is asked to end, which is its own answer
        monkeypatch.setattr(run, "_wait", lambda _, end: end.set())

    with pytest.raises(KeyboardInterrupt if phase == "end_all" else JvmGone):
        run.run_job(config, replace_output=True, listener=lambda event: heard.append(type(event).__name__))

    assert heard[-1:] == ([] if phase == "end_all" else ["RunFailed"])


def test_an_error_while_the_jvm_lives_stays_what_it_is(jvm, monkeypatch):
    monkeypatch.setattr(run, "find_spark", lambda: None)

    def wrong(*_: object) -> None:
        raise JobDefinitionError("wrong")

    monkeypatch.setattr(run, "_session", wrong)
    with pytest.raises(JobDefinitionError):
        run.run_job(SimpleNamespace(name="job", backup=None))
