"""`streamproof diff` says what is wrong with its sides before Spark starts, and ends with 2, not with the 1 of a difference."""

from pathlib import Path

import pytest


def rows(*places: str) -> None:
    for place in places:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text('{"k": 1}\n')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "a"], "There is no nowhere."),
        (["a", "empty"], "empty holds no rows"),
        (["a", "text.txt"], "text.txt is no folder"),
        (["a", "mixed"], "mixed holds files of csv and of json"),
        (["a", "several"], "a is one output, and several has several: one, two."),
        (["several", "several", "--output", "ones"], 'several has no output "ones". Did you mean "one"?'),
        (["a", "a", "--key", "k,,n"], '--key is "k,,n".'),
        (["a", "a", "--ignore", ""], '--ignore is "".'),
        (["a", "a", "--tolerance", "-1"], "greater than or equal to 0"),
        (["a"], "Missing argument"),
    ],
)
def test_wrong_sides_and_options_are_refused(arguments, said, streamproof):
    rows("a/r.json", "mixed/r.json", "mixed/r.csv", "several/one/r.json", "several/two/r.json", "text.txt")
    Path("empty").mkdir()

    result = streamproof("diff", *arguments)

    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err


def test_a_torn_batch_ends_with_2(streamproof):
    rows("out/batch=000000/_ledger.json", "a/r.json")

    result = streamproof("diff", "out", "a")

    assert result.code == 2
    assert "out/batch=000000/_ledger.json" in result.err
