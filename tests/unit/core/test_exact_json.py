"""JSON as the standard library writes it, and beside it decimals with all of their digits."""

import json
from decimal import Decimal

import pytest

from streamproof.core.exact_json import json_text

VALUES = [None, True, 1, -0.0, 1e-5, "a\n\x1b\x85é", [], {}, [1, [2, {}]], {"a": {"b": [1, None]}, "c": []}, {"é": "é"}]


@pytest.mark.parametrize("value", [*VALUES, VALUES])
def test_without_decimals_it_is_what_the_standard_library_writes(value):
    assert json_text(value) == json.dumps(value)
    assert json_text(value, indent=2) == json.dumps(value, indent=2)
    assert json_text(value, ascii_only=False) == json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Decimal("1234567890123456.78"), "1234567890123456.78"),
        (Decimal("12.50"), "12.50"),
        (Decimal("0E-18"), "0.000000000000000000"),
        (Decimal("1E+3"), "1000"),
        ({"a": [Decimal("0.1234567890123456789012")]}, '{"a": [0.1234567890123456789012]}'),
    ],
)
def test_decimals_keep_all_of_their_digits(value, written):
    assert json_text(value) == written
    assert json.loads(written, parse_float=Decimal, parse_int=Decimal) == value


def test_a_tuple_is_a_list():
    assert json_text((Decimal("1.0"), 2)) == "[1.0, 2]"
