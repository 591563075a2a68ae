"""Names of columns in Spark's expressions."""

import pytest

from streamproof.stream.names import quoted


@pytest.mark.parametrize(("name", "text"), [("client", "`client`"), ("a.b", "`a.b`"), ("a`b", "`a``b`"), ("", "``")])
def test_any_name_can_stand_in_an_expression(name, text):
    assert quoted(name) == text
