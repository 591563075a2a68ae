"""An account that does not add up says which query, by how much, and which transforms can have done it (R31); no Spark is started."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import streamproof as sp
from streamproof.core.account import Account
from streamproof.core.paths import display
from streamproof.errors import AccountError
from streamproof.runtime.adding_up import require_adds_up
from streamproof.runtime.watching.result import QueryAccount
from streamproof.stream.node import source
from streamproof.stream.operators import Transform


def dropping(rate, rows):
    return rows


def result(**read: int) -> SimpleNamespace:
    """A result whose queries have emitted 5,000 records each, of as many as were read."""
    return SimpleNamespace(accounts=[QueryAccount(query, records, Account(emitted=5_000)) for query, records in read.items()])


def test_r31_an_account_that_adds_up_is_none():
    require_adds_up(result(one=5_000, other=5_000), {})


def test_r31_any_query_that_does_not_is_named_with_its_transforms_alone():
    line = dropping.__code__.co_firstlineno
    roots = {
        "one": sp.Stream(source("events")).transform(lambda rows: rows).node,
        "other": sp.Stream(source("events")).filter("v > 0", name="positive").transform(partial(dropping, 1)).node,
        "third": sp.Stream(source("events")).node,
    }
    done = result(one=5_000, other=6_234, third=4_999)

    with pytest.raises(AccountError) as error:
        require_adds_up(done, roots)

    assert error.value.result is done
    assert error.value.exit_code == 4
    assert error.value.message.splitlines() == [
        "The account of other does not add up, 1,234 missing: 6,234 records were read, 5,000 are accounted for.",
        "The account of third does not add up, 1 too many: 4,999 records were read, 5,000 are accounted for.",
    ]
    assert [text for text in error.value.remedy.splitlines() if text.startswith("  ")] == [
        f"  transform(dropping) in {display(Path(__file__))} line {line}"
    ]
    assert "filter(condition, name=" in error.value.remedy


def test_r31_an_account_that_is_unknown_since_a_batch_is_a_note_and_another_query_is_not_excused():
    unknown = QueryAccount("one", 9_999, Account(emitted=5_000), unknown_since=3)
    require_adds_up(SimpleNamespace(accounts=[unknown]), {})

    other = QueryAccount("other", 5_001, Account(emitted=5_000))
    with pytest.raises(AccountError, match="The account of other"):
        require_adds_up(SimpleNamespace(accounts=[unknown, other]), {"other": source("events")})


def test_r31_without_a_transform_it_is_a_lost_manifest_or_an_accepted_replay():
    with pytest.raises(AccountError) as error:
        require_adds_up(result(one=1), {"one": source("events")})

    assert "a manifest that was lost" in error.value.remedy
    assert "transform" not in error.value.remedy


class Shouting:
    def __call__(self, rows):
        return rows


@pytest.mark.parametrize(
    ("function", "called"),
    [(len, "transform(len)"), (lambda rows: rows, "transform(lambda) in "), (Shouting(), "transform(Shouting) in ")],
)
def test_a_transform_is_called_by_its_function(function, called):
    assert str(Transform(function)).startswith(called)
