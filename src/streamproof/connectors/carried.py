"""Headers that go along with a record from a source to the sinks: columns whose names begin with `carried_` (C4).

They are ordinary columns: a row that passes keeps them, also to the rejected and late outputs; a transform may drop, change or add some. A
row of an aggregate stands for many records and has none. Sinks that know headers send them, and leave them out of the value.
"""

PREFIX = "carried_"


def column_of(header: str) -> str:
    """The column that a header is carried in."""
    return f"{PREFIX}{header}"


def is_carried(column: str) -> bool:
    return column.startswith(PREFIX)


def header_of(column: str) -> str:
    """The header that a carried column is sent as."""
    return column.removeprefix(PREFIX)
