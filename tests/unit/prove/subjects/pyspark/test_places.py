"""What a job has written it can read back in the proof; a stream of what it writes is refused by name, in whichever order it is said."""

from pathlib import Path

import pytest

from streamproof.errors import ScenarioError
from streamproof.prove.subjects.pyspark.places import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places("sp-record://r1/s1", tmp_path)


def test_a_batch_reader_finds_what_a_batch_writer_has_written(places, tmp_path):
    assert places.of_batch_writer("s3a://lake/totals/") == "sp-record://r1/s1/out/written/lake/totals"
    assert places.read_back("s3a://lake/totals") == "s3a://lake/totals", "nothing is written there yet"

    (tmp_path / "out" / "written" / "lake" / "totals").mkdir(parents=True)

    assert places.read_back("s3a://lake/totals") == "sp-record://r1/s1/out/written/lake/totals"
    assert places.read_back("s3a://lake/customers") == "s3a://lake/customers"


def test_a_batch_reader_finds_what_a_query_has_written(places):
    places.streams_to("/lake/bronze/", "sp-record://r1/s1/out/bronze")

    assert places.read_back("/lake/bronze") == "sp-record://r1/s1/out/bronze"


def test_a_stream_of_what_another_query_writes_is_refused(places):
    places.streams_to("/lake/bronze", "out")
    with pytest.raises(ScenarioError, match="Prove each query by itself"):
        places.reads("/lake/bronze/")


def test_a_query_that_writes_what_a_stream_reads_is_refused(places):
    places.reads("file:///lake/bronze")
    with pytest.raises(ScenarioError, match="/lake/bronze"):
        places.streams_to("/lake/bronze", "out")


def test_a_topic_and_a_table_of_one_name_are_two_places(places):
    places.reads("clicks", topic=True)
    places.streams_to("clicks", "out")

    assert places.read_back("clicks") == "out"
    with pytest.raises(ScenarioError):
        places.streams_to("clicks", "out", topic=True)


def test_other_places_are_no_matter(places):
    places.reads("/lake/bronze")
    places.streams_to("/lake/silver", "out")
    places.streams_to("", "out")
