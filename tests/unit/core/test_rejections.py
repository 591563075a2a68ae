"""The code of a reason is read from its sentence in one place, which has built the sentence."""

import pytest

from streamproof.core import rejections
from streamproof.core.rejections import Rejection, code_of


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("no event time in ts", Rejection.NO_TIME),
        ("event time in ts not readable", Rejection.TIME_NOT_READABLE),
        ("event time in a\nb not readable", Rejection.TIME_NOT_READABLE),
        ("event time more than 5 minutes in the future", Rejection.TIME_IN_FUTURE),
        ("total > 0", Rejection.CONDITION),
        ("total > 0 (is null)", Rejection.CONDITION),
        ("not parseable", Rejection.RECORD),
        ("quantity: 1.5 is no bigint, its record has no event time in ts", Rejection.RECORD),
        ("no event time", Rejection.RECORD),
        ("total > 1", Rejection.RECORD),
    ],
)
def test_a_reason_has_a_code(reason, code):
    assert code_of(reason, ["total > 0"]) is code


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (rejections.no_time("ts"), Rejection.NO_TIME),
        (rejections.time_not_readable("ts"), Rejection.TIME_NOT_READABLE),
        (rejections.time_in_future("5 minutes"), Rejection.TIME_IN_FUTURE),
    ],
)
def test_what_is_built_is_read_as_what_it_is(made, code):
    assert code_of(made, ()) is code


def test_a_condition_that_is_named_like_a_sentence_of_ours_is_a_condition():
    assert code_of("no event time in ts", {"no event time in ts"}) is Rejection.CONDITION
