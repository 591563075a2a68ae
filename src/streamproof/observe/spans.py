"""The times in a rule: as they are, or shorter by one factor, where a test or a proof has seconds for what a rule waits minutes for."""

import re
from datetime import timedelta

MINUTE = timedelta(minutes=1)
"""What a minute of a rule lasts in production."""
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_SPAN = re.compile(r"(?P<number>\$?)\b(?P<count>\d+)(?P<unit>ms|[smhd])\b")


def shrunk(text: str, minute: timedelta = MINUTE) -> str:
    """The text with each of its times (`15m`, `1d`) shorter, as `minute` is to a minute; `$2m` becomes a number of seconds."""
    share = minute / MINUTE

    def said(span: re.Match[str]) -> str:
        seconds = int(span["count"]) * _SECONDS[span["unit"]] * share
        if span["number"]:
            return f"{seconds:g}" if seconds < 1_000 else f"{seconds:.0f}"
        return span[0] if share == 1 else as_span(seconds)

    return _SPAN.sub(said, text)


def as_span(seconds: float) -> str:
    """A time as Prometheus writes it: in whole seconds, else in milliseconds."""
    milliseconds = round(seconds * 1_000)
    return f"{milliseconds // 1_000}s" if milliseconds % 1_000 == 0 else f"{milliseconds}ms"


def seconds_of(span: str) -> float:
    """How long a time such as `2m` is, in seconds."""
    found = _SPAN.fullmatch(span)
    assert found is not None, span
    return int(found["count"]) * _SECONDS[found["unit"]]
