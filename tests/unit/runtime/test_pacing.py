"""How much the next batch reads, by how long the one before took (S14)."""

from datetime import timedelta

import pytest

from streamproof.config import FilesSource, KafkaSource
from streamproof.connectors.files.source import FolderSource
from streamproof.connectors.kafka.source import TopicSource
from streamproof.connectors.source import Limit
from streamproof.core.manifest import Fingerprint
from streamproof.runtime.batch.pacing import Pace, PacedSource, adapted

FILES = FolderSource("trades", FilesSource(connector="files", path="data", format="parquet", files_per_batch=40))
TOPIC = TopicSource("clicks", KafkaSource(connector="kafka", servers="s:1", topic="t", format="json"))


class Asked:
    """Stands for where Spark asks: the limit that it was given, and how long ago."""

    name = "asked"

    def __init__(self, used, seconds):
        self.used, self.seconds, self.next = used, seconds, None

    def set(self, most):
        self.next = most


def files(count):
    return Fingerprint(0, ("o",), {"0": tuple(f"f{number}" for number in range(count))})


@pytest.mark.parametrize(
    ("limit", "taken", "ratio", "expected", "why"),
    [
        (100, 100, 1.0, 100, "it took as long as it should"),
        (100, 100, 0.8, 125, "there was more, and time for it"),
        (100, 100, 0.01, 200, "at most twice as much: one quick batch is no reason for more"),
        (100, 100, 2.0, 50, "it took twice as long"),
        (100, 100, 100.0, 25, "at least a quarter"),
        (100, 30, 0.1, 100, "there was no more: a quick batch of 30 says nothing of 200"),
        (100, 60, 0.1, 200, "a limit of whole records per partition can take half of it, and there was more"),
        (100, 60, 0.9, 100, "it was not slow, so nothing is taken away"),
        (
            100,
            30,
            3.0,
            25,
            "also a batch that was not full can be too slow, and never takes more than three quarters of the limit away",
        ),
        (1, 1, 0.7, 2, "of small limits a share is none, and there was room for one more"),
        (1, 1, 0.95, 1, "there was no room for it"),
        (2, 5, 2.0, 2, "a crash had left more for it than its limit"),
        (1, 1, 50.0, 1, "less than one is nothing"),
    ],
)
def test_the_next_limit(limit, taken, ratio, expected, why):
    assert adapted(limit, taken, ratio) == expected, why


def test_no_limit_is_above_what_is_configured():
    assert adapted(30, 30, 0.1, most=40) == 40
    assert adapted(100, 10, 0.1, most=40) == 40


@pytest.mark.parametrize(("fixed", "each"), [(0.0, 0.01), (5.0, 0.002), (9.0, 0.5), (6.0, 1.0), (0.1, 3.0)])
def test_limits_come_to_where_a_batch_takes_as_long_as_it_should(fixed, each):
    """A batch costs something beside its records; from far below and from far above."""
    for limit in (1, 1_000_000):
        for _ in range(80):
            limit = adapted(limit, limit, (fixed + each * limit) / 10)
        one_more_or_less = each / 10 + 0.02

        assert (fixed + each * limit) / 10 == pytest.approx(1, abs=one_more_or_less)


def test_a_batch_that_is_published_sets_the_limit_of_the_next_one():
    asked = Asked(used=8, seconds=30)
    pace = Pace((), timedelta(seconds=15), [PacedSource(FILES, 0, asked)])

    pace.saw(files(8))

    assert asked.next == 4
    assert pace.limits == (Limit("trades", 8, "files"),), "by what the batch was read, not the next one"


def test_a_batch_that_was_planned_before_this_start_and_one_without_input_say_nothing():
    for asked, taken in ((Asked(used=None, seconds=99), 8), (Asked(used=8, seconds=99), 0)):
        Pace((), timedelta(seconds=15), [PacedSource(FILES, 0, asked)]).saw(files(taken))

        assert asked.next is None


def test_what_is_configured_is_said_where_nothing_is_adapted():
    assert Pace([Limit("trades", 40, "files")]).limits == (Limit("trades", 40, "files"),)


def test_of_a_topic_offsets_are_counted_from_where_the_batch_begins():
    ends = '{"t":{"0":120,"1":7}}'

    assert TOPIC.taken(0, Fingerprint(0, (ends,), {}, {"0": '{"t":{"0":100,"1":7}}'})) == 20
    assert TOPIC.taken(0, Fingerprint(0, (ends,), {}, {"0": '{"t":{"0":100}}'})) == 27, "a partition was added"
    assert TOPIC.taken(1, Fingerprint(0, ("-", "-"), {}, {})) == 0, "nothing was read of it"
