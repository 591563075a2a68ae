"""A source of a union that delivers nothing holds the watermark: the run names it."""

from streamproof.core.manifest import Fingerprint
from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.watching.quiet import QuietSources


def of_files(*files):
    read = {str(number): tuple(names) for number, names in enumerate(files)}
    return BatchLogs(Fingerprint(0, ("o",) * len(files), read), "", {})


def of_topics(starts, ends):
    return BatchLogs(Fingerprint(0, tuple(ends), {}, {str(number): start for number, start in enumerate(starts)}), "", {})


def told(sources, *batches):
    quiet = QuietSources("totals", sources)
    for number, logs in enumerate(batches):
        quiet.saw(number, logs)
    return [(note.about, str(note)) for note in quiet.notes(())]


def test_one_that_stopped_delivering_is_named_with_its_last_batch():
    ((source, said),) = told(("orders", "refunds"), of_files("a", "b"), of_files("c", ""), of_files("", ""))

    assert source == "refunds"
    assert said.startswith("refunds has delivered nothing since batch 0, and orders has: the watermark of totals is the least")


def test_one_that_was_never_heard_of_in_this_run_is_named():
    ((source, said),) = told(("orders", "refunds"), of_files("", "b"))

    assert source == "orders"
    assert "nothing in this run" in said


def test_nothing_is_said_where_all_have_delivered_or_none_or_there_is_one():
    assert told(("orders", "refunds"), of_files("a", "b"), of_files("", "")) == []
    assert told(("orders", "refunds"), of_files("", "")) == []
    assert told(("orders",), of_files("a")) == []
    assert told((), of_files("a", "")) == []


def test_topics_have_delivered_where_a_position_has_moved():
    one, two = '{"t":{"0":1}}', '{"t":{"0":2}}'
    assert told(("orders", "refunds"), of_topics((one, one), (two, one)))[0][0] == "refunds"
    assert told(("orders", "refunds"), of_topics((one, one), (two, two))) == []
    assert told(("orders", "refunds"), of_topics((one, ""), (two, "-")))[0][0] == "refunds"


def test_one_that_is_left_out_does_not_hold_the_watermark():
    quiet = QuietSources("totals", ("orders", "refunds"))
    quiet.saw(0, of_files("a", ""))

    assert [note.about for note in quiet.notes(())] == ["refunds"]
    assert list(quiet.notes({"refunds"})) == []


def test_only_those_that_delivered_are_said_to_have():
    first, second = told(("orders", "refunds", "credits"), of_files("a", "b", "c"), of_files("d", "", ""))

    assert "refunds has delivered nothing since batch 0, and orders has:" in first[1]
    assert "credits has delivered nothing since batch 0, and orders has:" in second[1]
