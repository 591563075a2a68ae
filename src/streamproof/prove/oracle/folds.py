"""An accumulator as a fold: the rows added one by one to one buffer, by Spark's `aggregate` over an array of them. Nothing is merged.

This shares no code with the aggregate that a job runs, and it holds all rows at once, which a job must not.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fold:
    """An accumulator as it was declared, and the types of its fields; each method gives a SQL expression.

    Parameters
    ----------
    zero, add, merge, result
        As the user wrote them.
    types
        By field the type of its zero, "bigint".
    """

    zero: Mapping[str, str]
    add: Mapping[str, str]
    merge: Mapping[str, str]
    result: str
    types: Mapping[str, str]

    @classmethod
    def of(cls, declared: Any, types: Mapping[str, str]) -> "Fold":
        return cls(declared.zero, declared.add, declared.merge, declared.result, types)

    def columns(self, of_rows: Sequence[str]) -> list[str]:
        """The columns of rows that are read."""
        return [name for name in of_rows if any(_mentions(text, name) for text in self.add.values())]

    def start(self, rows: str) -> str:
        """The buffer without a row; it can be null as far as Spark knows, and so can its fields."""
        fields = {field: f"IF(size({rows}) < -1, NULL, {text})" for field, text in self.zero.items()}
        return self._buffer(fields)

    def over(self, rows: str, columns: Sequence[str]) -> str:
        """The buffer behind an array of rows (structs of the columns), in their order."""
        places = {field: f"_acc.`{field}`" for field in self.zero} | {name: f"_row.`{name}`" for name in columns}
        added = self._buffer({field: _bound(text, places) for field, text in self.add.items()})
        return f"aggregate({rows}, {self.start(rows)}, (_acc, _row) -> {added})"

    def merged(self, left: str, right: str) -> str:
        """What two buffers become."""
        return self._buffer({field: _bound(text, {"left": left, "right": right}) for field, text in self.merge.items()})

    def of_buffer(self, buffer: str) -> str:
        """What a buffer ends as."""
        return _bound(self.result, {field: f"{buffer}.`{field}`" for field in self.zero})

    def _buffer(self, fields: Mapping[str, str]) -> str:
        return f"named_struct({', '.join(f'{_text(name)}, CAST({text} AS {self.types[name]})' for name, text in fields.items())})"


def _bound(text: str, places: Mapping[str, str]) -> str:
    """An expression in which names stand for others: each is bound by a function of its own, so that the text is left as it was written."""
    bound = f"({text})"
    for name, place in places.items():
        if _mentions(text, name):
            bound = f"element_at(transform(array({place}), `{name}` -> {bound}), 1)"
    return bound


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _text(name: str) -> str:
    return f"'{name}'"
