"""On which line of a TOML text a key stands: tomllib does not say, and an error message must.

The scanner trusts that tomllib has accepted the text, so it only has to know strings, comments, brackets, keys and headers.
"""

import re
from collections.abc import Mapping

from streamproof.core.paths import display as display

KeyPath = tuple[str, ...]

_KEY = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*""")
_SKIPPED = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)


def key_lines(text: str) -> Mapping[KeyPath, int]:
    """The line (from 1) of every key and table header in a valid TOML text, by the path of keys that leads to it."""
    lines: dict[KeyPath, int] = {}
    _Scanner(text, lines).scan()
    return lines


class _Scanner:
    def __init__(self, text: str, lines: dict[KeyPath, int]) -> None:
        self.text, self.lines, self.at, self.table = text, lines, 0, ()

    table: KeyPath

    def scan(self) -> None:
        while self._to_next_line_start():
            if self.text[self.at] == "[":
                self.at += 2 if self.text.startswith("[[", self.at) else 1
                line, self.table = self._line(), self._keys()
                self._note(self.table, line)
                self._to_end_of_line()
            else:
                self._entry(self.table)
                self._to_end_of_line()

    def _to_next_line_start(self) -> bool:
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                self._to_end_of_line()
            elif self.text[self.at].isspace():
                self.at += 1
            else:
                return True
        return False

    def _entry(self, table: KeyPath) -> None:
        line, keys = self._line(), self._keys()
        for length in range(1, len(keys) + 1):
            self._note((*table, *keys[:length]), line)
        self.at += 1  # the equals sign
        self._value((*table, *keys))

    def _value(self, path: KeyPath) -> None:
        self._skip_space()
        if self.text.startswith("{", self.at):
            self.at += 1
            while self._inside("}"):
                self._entry(path)
        elif self.text.startswith("[", self.at):
            self.at += 1
            while self._inside("]"):
                self._value(path)
        elif skipped := _SKIPPED.match(self.text, self.at):
            self.at = skipped.end()
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}\n#":
                self.at += 1

    def _inside(self, end: str) -> bool:
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                self._to_end_of_line()
            elif self.text[self.at].isspace() or self.text[self.at] == ",":
                self.at += 1
            elif self.text[self.at] == end:
                self.at += 1
                return False
            else:
                return True
        return False

    def _keys(self) -> KeyPath:
        keys: list[str] = []
        while found := _KEY.match(self.text, self.at):
            keys.append(next(part for part in found.groups() if part is not None))
            self.at = found.end()
            if not self.text.startswith(".", self.at):
                break
            self.at += 1
        return tuple(keys)

    def _note(self, path: KeyPath, line: int) -> None:
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def _skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _to_end_of_line(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end + 1

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1
