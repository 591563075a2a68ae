"""Rules that are data: what is refused when the job is called, and what a query says of them."""

import pytest

from streamproof.errors import JobDefinitionError
from streamproof.stream import Stream
from streamproof.stream.looked_up import Use
from streamproof.stream.node import source

EVENTS = Stream(source("events"))
ASKED = {"rule": "rule", "when": "condition"}


@pytest.mark.parametrize(
    ("table", "given", "said"),
    [
        (5, {}, "rules() got 5 for a table"),
        ("limits", {"rule": None}, 'rules("limits", rule=...) got a NoneType'),
        ("limits", {"when": 5}, 'rules("limits", when=...) got a int'),
        ("limits", {"into": "_hits"}, "does not begin with an underscore"),
        ("limits", {"into": "two words"}, "the name of a column is a word"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(table, given, said):
    with pytest.raises(JobDefinitionError) as refused:
        EVENTS.rules(table, **{**ASKED, **given})

    assert said in refused.value.message


def test_a_query_says_what_it_takes_from_the_table():
    asked = EVENTS.rules("limits", **ASKED)

    assert asked.node.uses == (Use("limits", ("rule",), ("condition",)),)
    assert [str(side) for side in asked.node.sides] == ["rejected"]
    assert not asked.node.operator.is_same(asked.node.operator)


def test_they_stand_before_state():
    with pytest.raises(JobDefinitionError, match=r"rules\(\) stands after (deduplicate|latest|window)\(\)"):
        EVENTS.deduplicate("id").rules("limits", **ASKED)
