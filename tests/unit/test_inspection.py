"""`sp.inspect`: what Spark says is said in a line."""

import pytest

from streamproof.inspection import _in_a_line


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (
            "org.apache.spark.sql.catalyst.parser.ParseException: \n[PARSE_SYNTAX_ERROR] Syntax error at or near end of input. "
            "SQLSTATE: 42601 (line 1, pos 5)\n\n== SQL ==\nkey =\n-----^^^\n",
            "Syntax error at or near end of input. (line 1, pos 5)",
        ),
        ("java.io.FileNotFoundException: File file:/a does not exist", "File file:/a does not exist"),
        ("", "no reason given"),
    ],
)
def test_a_cause(cause, said):
    assert _in_a_line(cause) == said
