"""Every operator that has a table of its own has words, and so have those whose state proofs read."""

from streamproof.checkpoint.kinds import KINDS, kind_of
from streamproof.checkpoint.state import READERS
from streamproof.checkpoint.tables import _TABLES


def test_every_operator_that_is_read_has_words():
    assert {*_TABLES, *READERS} <= {*KINDS}


def test_an_operator_that_is_not_known_is_called_as_spark_calls_it():
    assert (kind_of("somethingNew").word, kind_of("").word) == ("somethingNew", "not named in this checkpoint")
