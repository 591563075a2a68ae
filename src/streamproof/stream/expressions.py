"""How a column's expression is written down, the same in each process."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

_LAMBDA_NAME = re.compile(r"\b[xyz]_\d+\b")
"""How PySpark names the arguments of a lambda function: by a counter of the JVM."""


def expression(column: "Column") -> str:
    """A column's expression as PySpark writes it, "sum(v)", the same in each process."""
    text = str(column).removeprefix("Column<'").removesuffix("'>")
    if "lambda" not in text:
        return text
    numbers: dict[str, str] = {}
    return _LAMBDA_NAME.sub(lambda found: numbers.setdefault(found[0], f"{found[0][0]}_{len(numbers)}"), text)
