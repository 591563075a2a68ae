"""Records of JSON that are read in one pass give the row that Spark's own parser gives, and what is refused is refused with the same reason."""

import pytest

from full_tables import full
from json_lines.compared import compared
from json_lines.lines import lines

LINES = 50_000


@pytest.mark.parametrize(("seed", "zone", "lenient"), [(1, "UTC", False), *full((2, "America/New_York", True))])
def test_a_line_is_what_it_is_by_sparks_parser(spark, seed, zone, lenient):
    found = compared(spark, lines(seed, LINES), zone=zone, lenient=lenient)

    assert found.differ == []
    assert found.lines == LINES
    assert LINES / 4 < found.in_one_pass < found.fit < LINES * 0.8
