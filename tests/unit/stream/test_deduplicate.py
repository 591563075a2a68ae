"""The horizon of a deduplication: what is refused, and how a recipe has it."""

from datetime import timedelta

import pytest

from streamproof.errors import JobDefinitionError
from streamproof.stream import Stream
from streamproof.stream.recipe import Recipe

EVENTS = Stream(Recipe("events"))


@pytest.mark.parametrize(
    ("within", "said"),
    [
        ("0 seconds", "a horizon of nothing forgets every key at once"),
        ("-1 seconds", "is not a duration"),
        ("", "an empty text is not a duration"),
        ("10", "is not a duration"),
        ("5 lightyears", "is not a duration"),
        ("10 microseconds", "is not a whole number of milliseconds"),
        ("1.5 ms", "is not a whole number of milliseconds"),
        (30, "a duration is a text"),
        (timedelta(minutes=10), "a duration is a text"),
        (("10 minutes",), "a duration is a text"),
        ("36501 days", "longer than a hundred years"),
        ("9" * 30 + " days", "longer than any duration can be"),
    ],
)
def test_r12_a_horizon_that_makes_no_sense_is_refused_with_its_call(within, said):
    with pytest.raises(JobDefinitionError) as refused:
        EVENTS.deduplicate("id", within=within)

    assert said in refused.value.message
    assert refused.value.message.startswith(f"deduplicate(within={within!r}): ")


@pytest.mark.parametrize(
    ("within", "horizon"), [(None, None), ("1 ms", timedelta(milliseconds=1)), ("36500 days", timedelta(36_500))]
)
def test_a_recipe_has_the_horizon_that_was_asked_for(within, horizon):
    step = EVENTS.deduplicate("id", within=within).recipe.deduplicate

    assert step is not None
    assert (step.key, step.within) == (("id",), horizon)
