"""What is open in the state of a query at the end of a run: records that have not come out, or can still come out otherwise."""

from enum import StrEnum


class Opened(StrEnum):
    """What one of it is called; `one` and `several` are what one does, and what several do, until the watermark passes them."""

    one: str
    several: str

    WINDOW = ("window", "is open", "are open")
    KEY = ("key", "waits", "wait")

    def __new__(cls, word: str, one: str, several: str) -> "Opened":
        made = str.__new__(cls, word)
        made._value_ = word
        made.one, made.several = one, several
        return made

    @property
    def are_windows(self) -> bool:
        """Whether they are windows of the job, which the result of a run counts."""
        return self is Opened.WINDOW

    def said(self, number: int, shown: str) -> str:
        """So many of them as people read it: "34 windows are open"."""
        return f"{shown} {self} {self.one}" if number == 1 else f"{shown} {self}s {self.several}"
