"""How the command line speaks: results to standard output, errors to standard error, no secrets in either."""

import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from streamproof.cli import log_lines
from streamproof.core.clock import monotonic_seconds, now_utc
from streamproof.core.trace_texts import without_values
from streamproof.errors import StreamproofError

if TYPE_CHECKING:
    from rich.console import Console

_INDENT = " " * len("error  ")
_PLACEHOLDER = re.compile(r"(?<=streamproof run )TARGET\b|(?<=streamproof prove )TARGET\b")
_NUMBER = re.compile(r"\d[\d,.]*|\s*\([^()]*\)")
"""What makes no news of a text: its numbers, and what stands in parentheses."""
_SAID_AGAIN_SECONDS = 60
LAST_ERROR = Path(".streamproof", "last-error.txt")


class _WithoutSecrets:
    """A stream that takes secrets out of what is written to it; everything else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(redacted(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def console() -> "Console":
    """Standard output: colours only on a terminal, lines folded only where a terminal has an end, secrets nowhere."""
    from rich.console import Console

    return Console(file=cast("TextIO", _WithoutSecrets(sys.stdout)), highlight=False, markup=False, emoji=False, soft_wrap=True)


def never_fail() -> None:
    """Let what the terminal's encoding does not have be written as "?" instead of ending in an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def sign(good: bool, looked_at: bool = True) -> str:
    """A tick or a cross, "+" or "-" where the terminal's encoding has neither; a question mark for what was not looked at."""
    if good and not looked_at:
        return "?"
    try:
        "✓✗".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "+" if good else "-"
    return "✓" if good else "✗"


def typed(target: str, profile: str | None) -> str:
    """A target and its profile as they are typed after a command."""
    return shlex.quote(target) if profile is None else f"{shlex.quote(target)} --profile {shlex.quote(profile)}"


class _Traces:
    """Whether errors are printed with their traces: `--debug` asks for it."""

    shown = False


def show_traces(wanted: bool) -> bool:
    """Lets errors of this command be printed with their traces, or not."""
    _Traces.shown = wanted
    return wanted


def print_trace(problem: BaseException) -> None:
    """Print the whole trace to standard error, secrets taken out, where `--debug` asks for it."""
    if _Traces.shown:
        print_note("".join(traceback.format_exception(problem)))


def print_error(
    problem: StreamproofError, *, target: str | None = None, profile: str | None = None, log: Path | None = None
) -> None:
    """Print where, what was found, what is required and what to do; the first word says that it is an error.

    Commands in it name the target and the profile as they were typed, so that they can be copied. `log` is the file in which Spark says more.
    """
    print_trace(problem)
    if log_lines.is_json():
        said, about = log_lines.about_error(problem)
        log_lines.say("ERROR", _typed_in(said, target, profile), about, redacted)
        return
    text = "\n".join((str(problem), *_around(problem), *([] if log is None else [f"Spark's log: {log}"])))
    print_problem(_typed_in(text, target, profile))


def _typed_in(text: str, target: str | None, profile: str | None) -> str:
    return text if target is None else _PLACEHOLDER.sub(lambda _: typed(target, profile), text)


def _around(problem: StreamproofError) -> list[str]:
    """Of an error that has stopped a run what is around it, a line each, the words below each other."""
    if problem.failure is None:
        return []
    from streamproof.report.pages import path_of

    lines = [(word, path_of(said) if word == "read on" else said) for word, said in problem.failure.lines(problem.message)]
    return [f"{'' if number and lines[number - 1][0] == word else word:<7}  {said}" for number, (word, said) in enumerate(lines)]


def print_problem(text: str) -> None:
    """Print an error of several lines, the first one after the word, the others below it."""
    from rich.console import Console
    from rich.text import Text

    if log_lines.is_json():
        log_lines.say("ERROR", text, {}, redacted)
        return
    first, *rest = redacted(text).splitlines() or ["unknown"]
    shown = Text("error  ", style="bold red")
    shown.append("\n".join((first, *(_INDENT + line for line in rest))), style="default not bold")
    Console(stderr=True, highlight=False, emoji=False).print(shown, soft_wrap=True)


def print_note(text: str) -> None:
    """Print to standard error what is no error, and no result."""
    from rich.console import Console

    if log_lines.is_json():
        log_lines.say("INFO", text, {}, redacted)
        return
    Console(stderr=True, highlight=False, markup=False, emoji=False).print(redacted(text), soft_wrap=True)


class _Lines:
    """Says what is being done in lines with the time, for logs: at once what is new, what differs in its numbers or in parentheses alone once
    a minute.
    """

    def __init__(self, doing: str, say: Callable[[str], None], clock: Callable[[], float] = monotonic_seconds) -> None:
        self._doing, self._say, self._clock = doing, say, clock
        self._last, self._again = "", 0.0

    def __call__(self, text: str) -> None:
        shape = _NUMBER.sub("", text)
        if shape != self._last or self._clock() >= self._again:
            self._last, self._again = shape, self._clock() + _SAID_AGAIN_SECONDS
            at = "" if log_lines.is_json() else f"{now_utc():%Y-%m-%dT%H:%M:%SZ}  "
            self._say(f"{at}{self._doing}: {text}")


@contextmanager
def waiting(doing: str) -> Iterator[Callable[[str], None]]:
    """Show on standard error that something is being done, and what: on a terminal in one place, and gone when it ends; else in lines."""
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    console = Console(stderr=True, highlight=False, emoji=False)
    if log_lines.is_json() or not console.is_terminal:
        yield _Lines(doing, print_note)
        return
    spinner = Spinner("dots", Text(redacted(doing)))
    with Live(spinner, console=console, transient=True, redirect_stdout=False, redirect_stderr=False):
        yield lambda text: spinner.update(text=Text(redacted(f"{doing}: {text}")))


def keep_trace(problem: BaseException) -> Path | None:
    """Write the trace of an unexpected error to `.streamproof/`, and return where; None if it cannot be written. Secrets and what the errors
    say, which may hold values of rows, are taken out.
    """
    text = redacted(without_values("".join(traceback.format_exception(problem))))
    try:
        LAST_ERROR.parent.mkdir(parents=True, exist_ok=True)
        LAST_ERROR.write_text(text, encoding="utf-8")
    except OSError:
        return None
    return LAST_ERROR


def silence_output() -> None:
    """Let the interpreter end quietly when who reads our output has gone (`| head`)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def redacted(text: str) -> str:
    """Values of `${env:NAME}` are known only if a configuration was read, and then the module is there."""
    secret = sys.modules.get("streamproof.config.secret")
    return str(secret.redact(text)) if secret else text
