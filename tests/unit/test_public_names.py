"""The public surface: few names, each of them there, none imported before it is asked for."""

import inspect
from pathlib import Path

import pytest

import streamproof as sp
from streamproof.stream import windows


def test_the_names_are_few_and_known():
    windows = ["calendar", "gap_of", "hopping", "session", "shifts", "tumbling"]
    aggregates = ["accumulator", "sketch"]
    state = ["emit", "initial", "list_of", "map_of", "patterns", "step"]
    assert sorted(sp.__all__) == sorted(
        [
            "OperatorTest",
            "Outputs",
            "Proof",
            "Stream",
            "StreamproofError",
            "__version__",
            "inspect",
            "job",
            "prove",
            "run",
            "sample",
            "watch",
            *windows,
            *aggregates,
            *state,
        ]
    )
    assert len(sp.__all__) <= 26
    assert dir(sp) == sorted(sp.__all__)


@pytest.mark.parametrize("name", sp.__all__)
def test_every_name_is_there_and_documented(name):
    value = getattr(sp, name)

    assert isinstance(value, str) or inspect.getdoc(value)


@pytest.mark.parametrize("page", ["reference/stream.md", "guides/windows.md"])
def test_every_maker_of_windows_is_on_its_pages(page):
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")

    assert [name for name in windows.__all__ if name.islower() and f"sp.{name}(" not in text] == []


def test_prove_stays_callable_whatever_was_imported_before():
    import streamproof.prove.events

    assert callable(sp.prove)
    assert callable(streamproof.prove)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'streamproof' has no attribute 'prooof'"):
        sp.prooof  # noqa: B018
