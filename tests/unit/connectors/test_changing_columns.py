"""A column that changes from file to file is said by name, once."""

from streamproof.connectors.files.noticing import Change, changes

ASKED = {"id": "string", "v": "double", "day": "date", "_trace": "string"}


def of(*files: dict[str, str], declared: bool = False) -> list[Change]:
    return list(changes(ASKED, [(f"{n}.parquet", file) for n, file in enumerate(files)], declared=declared, of_paths=["day"]))


def test_files_that_are_alike_say_nothing() -> None:
    same = {"id": "string", "v": "double"}
    assert of(same, {"V": "double", "id": "string", "day": "string"}) == []
    assert of(same, same, declared=True) == []


def test_a_new_column_is_named_with_its_first_file() -> None:
    same, more = {"id": "string", "v": "double"}, {"id": "string", "v": "double", "discount": "double"}
    for declared in (False, True):
        assert of(same, more, more, declared=declared) == [Change("discount", "1.parquet", "double", None)]
    assert of(more) == [Change("discount", "0.parquet", "double", None)]
    assert of(more, declared=True) == []  # left out on purpose


def test_a_column_that_is_gone_is_named() -> None:
    assert of({"id": "string", "v": "double"}, {"id": "string"}) == [Change("v", "1.parquet", None, "double")]
    for declared in (False, True):
        assert of({"id": "string"}, declared=declared) == [Change("v", "0.parquet", None, "double")]
    unread = {"id": "string", "v": "double", "unread": "int"}
    assert of(unread, {"id": "string", "v": "double"}, declared=True) == []


def test_another_type_is_named() -> None:
    assert of({"id": "string", "v": "int"}) == [Change("v", "0.parquet", "int", "double")]
    assert of({"id": "string", "v": "float"}, {"id": "string", "v": "double"}, declared=True) == [
        Change("v", "1.parquet", "double", "float")
    ]


def test_what_is_said_names_source_file_and_column() -> None:
    note = Change("discount", "file:///data/b%20c.parquet", "double", None).note("orders", declared=False)
    assert str(note).startswith(
        "[source.orders] /data/b c.parquet has the column discount (double), which earlier files do not have"
    )
    assert '"discount double"' in note
    assert note.code == "schema-changed"
    assert "null in the rows" in Change("v", "x", None, "int").note("orders", declared=True)
    assert "as bigint, and earlier files have it as int" in Change("v", "x", "bigint", "int").note("orders", declared=True)
