"""An accumulator as a fold is SQL text in which the user's own text stands as it was written."""

from streamproof.prove.oracle.folds import Fold

COUNT = Fold({"n": "0L"}, {"n": "n + weight"}, {"n": "left.n + right.n"}, "n * 2", {"n": "bigint"})


def test_names_are_bound_around_the_text_of_the_user():
    assert COUNT.of_buffer("b") == "element_at(transform(array(b.`n`), `n` -> (n * 2)), 1)"
    assert "(left.n + right.n)" in COUNT.merged("x", "y")


def test_rows_are_added_and_never_merged():
    text = COUNT.over("rows", ["weight"])

    assert text.startswith("aggregate(rows, named_struct('n', CAST(")
    assert "(n + weight)" in text
    assert "_row.`weight`" in text
    assert "left" not in text


def test_only_columns_that_are_named_are_read():
    assert COUNT.columns(["weight", "weights", "n_of"]) == ["weight"]
