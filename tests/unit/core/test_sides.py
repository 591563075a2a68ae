"""What a side output is called: on disk, by default, and in sentences."""

import pytest

from streamproof.core.account import PLACES
from streamproof.core.sides import BY_METHOD, DUPLICATE, LATE, REJECTED, Side
from streamproof.stream.leaving import SideOutputs
from streamproof.stream.side_output import SideOutput

LEFT, RIGHT = Side("unmatched", "left"), Side("unmatched", "right")


def test_the_only_one_of_a_kind_is_called_by_its_kind():
    assert [(str(side), side.output, side.said) for side in (LATE, REJECTED, DUPLICATE)] == [
        ("late", "late", "late"),
        ("rejected", "rejected", "rejected"),
        ("duplicate", "duplicate", "duplicate"),
    ]


def test_several_of_a_kind_are_told_apart_by_their_names():
    assert (str(LEFT), LEFT.output, LEFT.said) == ("unmatched:left", "unmatched_left", "unmatched left")
    assert len({LEFT, RIGHT, Side("unmatched", "left"), Side("unmatched")}) == 3


@pytest.mark.parametrize(
    ("kind", "name"), [("", ""), ("late.0", ""), ("unmatched", "left:1"), ("unmatched", "the left"), ("tag", "1")]
)
def test_what_would_be_taken_for_another_door_is_no_name(kind, name):
    with pytest.raises(ValueError, match="is no word"):
        Side(kind, name)


def test_each_property_of_a_stream_that_gives_a_side_output_is_known_to_who_reads_the_text_of_a_job():
    giving = [
        name
        for name, one in vars(SideOutputs).items()
        if isinstance(one, property) and one.fget is not None and one.fget.__annotations__.get("return") is SideOutput
    ]

    assert sorted(giving) == sorted(BY_METHOD)


def test_the_records_of_the_three_that_every_job_can_have_have_their_places_in_the_account():
    assert {side.kind for side in BY_METHOD.values()} <= set(PLACES)
