"""Which keys are said to be hot, and what of them (S13)."""

from streamproof.core.notes import NoteCode
from streamproof.runtime.watching.figures import Times
from streamproof.runtime.watching.hot_keys import Counted, HotKeys

TIMES = Times(tasks=8, slowest_ms=4_200, median_ms=300, most_rows=90_000)


def watching(partitions=8):
    return HotKeys("exposure", partitions, {"window": ("client",)})


def saw(hot, batch=0, rows=10_000, **keys):
    counted = Counted(rows, {key.removeprefix("k"): count for key, count in keys.items()})
    return [(found.key, found.share) for found in hot.saw(batch, {"window": counted}, lambda: TIMES)]


def test_a_key_is_hot_that_has_twice_the_part_of_a_partition():
    assert saw(watching(8), k1=2_600, k2=2_400) == [("1", 0.26)]
    assert saw(watching(1_000), k1=600, k2=400) == [("1", 0.06)], "never less than five in a hundred"
    assert saw(watching(2), k1=5_100, k2=4_900) == [("1", 0.51)], "half of all is always much"


def test_with_one_partition_no_key_is_in_the_way_of_others():
    assert saw(watching(1), k1=10_000) == []


def test_a_small_batch_says_nothing_of_shares():
    assert saw(watching(), rows=999, k1=999) == []


def test_a_key_is_said_again_only_where_its_share_has_grown():
    hot = watching()

    assert saw(hot, 0, k1=3_000) == [("1", 0.3)]
    assert saw(hot, 1, k1=4_000) == []
    assert saw(hot, 2, k1=4_600) == [("1", 0.46)]
    assert saw(hot, 3, k2=2_600) == [("2", 0.26)]


def test_the_times_are_asked_for_only_where_there_is_something_to_say():
    asked = []

    list(watching().saw(0, {"window": Counted(10_000, {"1": 100})}, lambda: asked.append(True)))

    assert asked == []


def test_the_note_says_the_hottest_key_by_its_hash_and_what_it_has_cost():
    hot = watching()
    saw(hot, 4, k77=6_000, k78=2_700)

    (note,) = hot.notes()

    assert (note.code, note.about) == (NoteCode.HOT_KEY, "window")
    assert "60% of the rows" in note
    assert "xxhash64(client) = 77" in note
    assert "1 more is hot too" in note
    assert "the slowest of 8 partitions took 4,200 ms, and the one in the middle 300 ms; the fullest read 90,000 rows" in note


def test_where_spark_has_not_told_the_times_the_share_is_said_alone():
    hot = watching()
    list(hot.saw(0, {"window": Counted(10_000, {"1": 9_000})}, lambda: None))

    assert "partitions" not in next(iter(hot.notes()))
