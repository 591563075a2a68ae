"""The formats of what a run leaves behind, and what happens to one that is not known: it stops the job, and stays as it is (R30).

Every format, those to come included, is one JSON object whose first key is "format". By that a version that does not know a format tells it
from a file that is torn. A new key needs a new number: a reader takes no record of which it does not know every key.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from streamproof import __version__
from streamproof.errors import UnknownFormat

T = TypeVar("T")

TORN = "torn"
_NUMBER = re.compile(r'\s*\{\s*"format"\s*:\s*(\d+)\s*[,}]')
"""How a record begins, whole or torn."""


class NotOfTheFormat(Exception):
    """A record does not hold what its format says; the message goes on after "format 1"."""


@dataclass(frozen=True)
class Format:
    """One kind of record.

    Parameters
    ----------
    name
        What people call it, with its article.
    written
        The number that this version writes.
    known
        The numbers that this version reads.
    """

    name: str
    written: int = 1
    known: tuple[int, ...] = (1,)

    def text(self, record: Mapping[str, Any], number: int | None = None) -> str:
        """The text of a record; the number stands before all else. It is the one that this version writes, unless another is given."""
        return json.dumps({"format": self.written if number is None else number, **record}, indent=1)

    def read(self, text: str, where: str, made: Callable[[dict[str, Any]], T]) -> T:
        """What `made` makes of a record, which it is given without its number.

        Parameters
        ----------
        where
            The file or the record, as an error names it; "" where nobody needs to find it.
        made
            Raises NotOfTheFormat, KeyError, TypeError, ValueError or AttributeError if the record does not have its format.

        Raises
        ------
        ValueError
            If the text is torn: empty, cut short, or not JSON.
        UnknownFormat
            If it is of a format that this version does not know.
        """
        try:
            found = json.loads(text)
        except ValueError:
            number = number_in(text)
            if number is not None:
                self.require_known(number, where)
            raise ValueError(TORN) from None
        if not isinstance(found, dict):
            raise ValueError(TORN)
        number, by = found.pop("format", None), found.get("version")
        self.require_known(number, where, by=by)
        try:
            return made(found)
        except NotOfTheFormat as problem:
            raise self._unknown(where, f"format {number} {problem}", by) from None
        except KeyError as problem:
            raise self._unknown(where, f'format {number} without the key "{problem.args[0]}"', by) from None
        except (TypeError, AttributeError, ValueError) as problem:
            raise self._unknown(where, f"format {number} with values that it does not have ({problem})", by) from None

    def require_known(self, number: object, where: str, *, by: object = None) -> None:
        """UnknownFormat unless this version reads the format with this number; `by` is the version that wrote the record, where it says so."""
        if type(number) is not int or number not in self.known:
            raise self._unknown(where, "no format" if number is None else f"format {json.dumps(number, default=str)}", by)

    def _unknown(self, where: str, found: str, by: object) -> UnknownFormat:
        *others, last = map(str, self.known)
        known = f"{', '.join(others)} and {last}" if others else last
        written = f", written by Streamproof {by}" if by else ""
        is_a = f"{where} is {self.name}" if where else self.name.capitalize()
        return unknown(f"{is_a} of {found}{written}. This is Streamproof {__version__}, which knows format {known}.")


def number_in(text: str) -> int | None:
    """The number of the format that a text begins with, whole or torn; None where it does not begin as a record."""
    begins = _NUMBER.match(text)
    return None if begins is None else int(begins[1])


def unknown(message: str) -> UnknownFormat:
    """The error for a format that is not known, in one place."""
    return UnknownFormat(
        message,
        required="It stays as it is: a format that is not known is never taken for torn, mended or deleted.",
        remedy="Run the version of Streamproof that wrote it. To go on with this one, put checkpoint and outputs back from a backup that was "
        "made before the other version ran, or start over with a new checkpoint and new outputs.",
    )


def require_keys(kind: type, found: Mapping[str, Any]) -> None:
    """NotOfTheFormat unless a record has the keys of a dataclass: all without a default, and no others."""
    named = {field.name: field.default is MISSING and field.default_factory is MISSING for field in fields(kind)}
    for key in found:
        if key not in named:
            raise NotOfTheFormat(f'with the key "{key}", which is not part of it')
    for key, needed in named.items():
        if needed and key not in found:
            raise NotOfTheFormat(f'without the key "{key}"')
