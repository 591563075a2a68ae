"""What is said around an error that stops a run, as far as no Spark is needed for it."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamproof.core.manifest import Fingerprint
from streamproof.core.masking import shape_of, shapes_of
from streamproof.errors import JvmGone, SinkError, SinkUnavailable, StreamproofError
from streamproof.runtime.at_fault import step_of
from streamproof.runtime.batch.protocol import Begun
from streamproof.runtime.failing import failure_of, in_query, keep_failure, reads_of, said_first
from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.watching.failure import Read
from streamproof.stream.node import source
from streamproof.stream.operators.filter import Filter
from streamproof.stream.operators.require import Require
from streamproof.stream.operators.transform import Transform

TRADES = Fingerprint(
    0, ('{"trades":{"0":200,"1":50}}', '{"logOffset":4}'), {"1": ("file:/in/a%20b.json",)}, {"0": '{"trades":{"0":100}}'}
)
READS = (
    Read("trades", "trades", 0, 100, 200),
    Read("trades", "trades", 1, None, 50),
    Read("clients", files=("a b.json",), of_files=1),
)


def protocol(begun: Begun | None, *, newest: object = None, planned: tuple[int, ...] = (), committed: tuple[int, ...] = ()):
    logs = SimpleNamespace(
        batches=lambda folder: planned if folder == "offsets" else committed, of=lambda batch: BatchLogs(TRADES, "", {})
    )
    root = source("trades").then(Require({"v": "v > 0"})).then(Transform(lambda rows: rows), source("clients"))
    query = SimpleNamespace(root=root, journal=SimpleNamespace(logs=logs))
    return SimpleNamespace(begun=begun, query=query, commits=SimpleNamespace(newest=newest))


def told(problem: StreamproofError, of: object = None) -> StreamproofError:
    with pytest.raises(StreamproofError) as raised, in_query("exposure", of):
        raise problem
    return raised.value


def test_what_a_batch_reads_by_source_and_partition():
    found = reads_of(("trades", "clients"), TRADES)

    assert tuple(found) == READS
    assert [read.said for read in found] == [
        "trades: trades-0 from 100 to 200",
        "trades: trades-1 from the beginning to 50",
        "clients: a b.json",
    ]


def test_the_batch_is_the_one_that_is_planned_and_not_committed():
    failure = failure_of(told(SinkError("no"), protocol(None, planned=(3, 4), committed=(3,))), "risk")

    assert (failure.job, failure.query, failure.batch, failure.reads) == ("risk", "exposure", 4, READS)


def test_between_two_batches_it_is_in_none():
    failure = failure_of(told(SinkError("no"), protocol(Begun(4, BatchLogs(TRADES, "", {})), planned=(4,), committed=(4,))), "risk")

    assert (failure.batch, failure.reads) == (None, ())


@pytest.mark.parametrize(
    ("published", "newest", "batch"), [(False, None, 4), (True, "not committed yet", 4), (True, None, None)], ids=str
)
def test_of_a_dead_jvm_it_says_what_the_driver_knows(published, newest, batch):
    def no_answer(_: object) -> None:
        raise AssertionError("the JVM is gone: nothing is read of it")

    of = protocol(Begun(4, BatchLogs(TRADES, "", {}), published), newest=newest)
    of.query.journal.logs = SimpleNamespace(batches=no_answer, of=no_answer)

    failure = failure_of(told(JvmGone("gone"), of), "risk")

    assert failure.batch == batch
    assert failure.reads == (READS if batch is not None else ())


def test_what_was_said_nearer_to_its_place_stays():
    """Of a batch that waits: it is an older one than that which is under way."""
    waiting = SinkUnavailable("down").is_at(output="exposure.postgres", batch=2)

    failure = failure_of(told(waiting, protocol(None, planned=(3, 4), committed=(3,))), "risk")

    assert (failure.batch, failure.where.output) == (2, "exposure.postgres")
    assert ("where", "output exposure.postgres") in failure.lines()


def test_without_a_query_there_is_only_the_page():
    assert [*failure_of(StreamproofError("wrong"), "risk").lines("wrong")] == [("read on", "docs/reference/codes.md#error-error")]


def test_what_cannot_be_said_hides_no_error():
    assert told(SinkError("no"), SimpleNamespace()).message == "no"


def test_the_innermost_error_of_ours_and_the_name_of_a_library_are_the_cause():
    inner = SinkUnavailable("postgres://db cannot be written: no answer")
    inner.__cause__ = TimeoutError("password=hunter2hunter2")
    outer = SinkError("3 batches wait")
    outer.__cause__ = inner

    assert failure_of(outer, "risk").cause == "postgres://db cannot be written: no answer (TimeoutError)"


def test_no_password_is_in_it(monkeypatch):
    url = "jdbc:postgresql://db:5432/risk?user=me&password=hunter2hunter2"
    problem = SinkError(f"{url} refuses us", remedy="Mend postgresql://me:hunter2hunter2@db/risk.").is_at(
        sql="a = 'token=hunter2hunter2'"
    )
    keep_failure(problem, failure_of(problem, "risk"))

    assert "hunter2" not in json.dumps(problem.failure, default=lambda value: vars(value))
    assert "hunter2" not in "".join(problem.__notes__)
    assert said_first(problem) == "jdbc:postgresql://db:5432/risk?user=me&password=*** refuses us"


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("anna-7f", "text of 7 characters"),
        ("a", "text of 1 character"),
        (4711, "a number"),
        (1.5, "a number"),
        (True, "true or false"),
        (None, "null"),
        (b"ab", "2 bytes"),
        ([1, 2], "a list of 2"),
        ({"iban": "DE"}, "a record of 1 field"),
    ],
)
def test_of_a_value_its_shape_is_said(value, shape):
    assert shape_of(value) == shape
    assert shapes_of({"it": value}) == {"it": shape}


def test_a_text_that_two_steps_have_is_of_neither():
    same = source("trades").then(Require({"v": "v > 0"})).then(Filter("v > 0", "some"))

    assert step_of(same, [], "v > 0") == ""
    assert step_of(source("trades").then(Filter("v > 0", "some")), [], "v > 0") == "filter(name='some')"


def test_a_line_of_a_library_is_of_no_step():
    assert step_of(source("trades").then(Filter(object(), "some")), [("/x/site-packages/a.py", 3, "")], "") == ""


def written_here(rows: object) -> object:
    return text_of(rows)


def text_of(rows: object) -> object:
    return rows


def test_a_line_is_of_the_step_whose_function_has_it_or_names_it():
    query = source("trades").then(Transform(written_here)).then(Filter("v > 0", "some"))
    line = text_of.__code__.co_firstlineno + 1

    assert step_of(query, [(__file__, line, "text_of")], "").startswith("transform(written_here) in ")
    assert step_of(query, [(__file__, 1, "other")], "") == ""


def codes(kind: type[StreamproofError] = StreamproofError) -> set[str]:
    own = {kind.code} if kind.__module__.startswith("streamproof.") else set()
    return own.union(*(codes(one) for one in kind.__subclasses__()))


@pytest.mark.parametrize("code", sorted(codes()))
def test_the_page_of_each_code_is_there(code):
    problem = StreamproofError("wrong")
    problem.code = code  # type: ignore[misc]
    page, _, part = failure_of(problem, "risk").page.partition("#")

    assert f'<a id="{part}"></a>`{code}`' in (Path(__file__).parents[3] / page).read_text(encoding="utf-8")
