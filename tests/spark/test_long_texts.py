"""Texts that are longer than the buffer of a connection to the JVM: they come to Python in pieces, whole."""

import pytest

from streamproof._jvm import Storage


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x" * 3_999,
        "x" * 4_000,
        "x" * 4_001,
        "line\n\\u0041\t" * 9_000,
        "é" * 20_000,
        "😀" * 9_001,
        "x" + "😀" * 9_001,
        "x" * 3_999 + "😀",
    ],
    ids=[
        "empty",
        "a piece but one",
        "a piece",
        "a piece and one",
        "lines",
        "two bytes",
        "pairs",
        "pairs cut apart",
        "a pair at the end",
    ],
)
def test_a_text_comes_back_as_it_was_written(spark, tmp_path, text: str) -> None:
    storage = Storage(spark)
    storage.write(str(tmp_path / "text"), text)

    assert storage.read(str(tmp_path / "text")) == text


def test_a_long_listing_comes_whole_and_a_file_that_is_not_there_is_none(spark, tmp_path) -> None:
    names = {f"{number:06d}-{'n' * 60}": number % 7 for number in range(400)}
    for name, size in names.items():
        (tmp_path / name).write_bytes(b"x" * size)
    storage = Storage(spark)

    assert storage.list(str(tmp_path)) == names
    assert sorted(storage.names(str(tmp_path))) == sorted(names)
    assert storage.sizes([f"file://{tmp_path / name}" for name in names] * 5) == {
        f"file://{tmp_path / n}": s for n, s in names.items()
    }
    assert storage.read(str(tmp_path / "none")) is None
