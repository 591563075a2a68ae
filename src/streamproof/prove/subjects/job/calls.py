"""Calling the user's job function on streams that only write down what they are asked (R28).

They share no code with `stream/stream.py`: what that makes of a call is what a proof is about. A test holds the two to the same methods.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

import streamproof
from streamproof import stream
from streamproof.errors import JobDefinitionError, StreamproofError
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.windows.written import WrittenWindow
from streamproof.runtime.binding.loading import load_job
from streamproof.stream import windows
from streamproof.stream.outputs import Outputs
from streamproof.stream.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.config import JobConfig

KINDS = ("tumbling", "hopping", "session", "calendar", "shifts", "gap_of")
"""The makers of windows, and of the gap of a session."""


Made = TypeVar("Made")


class AskedStream:
    """Has the methods of a stream; each gives another one that remembers the call as well."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked

    def require(self, **conditions: "str | Column") -> "AskedStream":
        return AskedStream(self.asked.then("require", conditions=dict(conditions)))

    def filter(self, condition: Any, *, name: str) -> "AskedStream":
        return AskedStream(self.asked.then("filter", condition=condition, name=name))

    def transform(self, function: "Callable[[DataFrame], DataFrame]") -> "AskedStream":
        return AskedStream(self.asked.then("transform", function=function))

    def lookup(self, table: str, *, on: Any, columns: Any = None, how: str = "inner", as_of: str | None = None) -> "AskedStream":
        return AskedStream(self.asked.then("lookup", table=table, on=on, columns=columns, how=how, as_of=as_of))

    def rules(self, table: str, *, rule: str, when: str, into: str = "rules") -> "AskedStream":
        return AskedStream(self.asked.then("rules", table=table, rule=rule, when=when, into=into))

    def union(self, other: "AskedStream") -> "AskedStream":
        return AskedStream(self.asked.then("union", other.asked))

    def deduplicate(
        self, *key: str, within: str | None = None, order_by: str | None = None, keep: str | None = None
    ) -> "AskedStream":
        return AskedStream(self.asked.then("deduplicate", key=key, within=within, order_by=order_by, keep=keep))

    def join(
        self,
        right: "AskedStream",
        *,
        on: str | tuple[str, ...] | list[str],
        between: tuple[str, str],
        how: str = "inner",
    ) -> "AskedStream":
        return AskedStream(self.asked.then("join", right.asked, on=on, between=between, how=how))

    def latest(self, *key: str, order_by: str, within: str) -> "AskedStream":
        return AskedStream(self.asked.then("latest", key=key, order_by=order_by, within=within))

    def keyed(
        self,
        *key: str,
        state: Any,
        on_row: Any,
        on_timer: Any = None,
        ttl: str | None = None,
        order_by: str | None = None,
        initial: Any = None,
    ) -> "AskedStream":
        asked = {"state": state, "on_row": on_row, "on_timer": on_timer, "ttl": ttl, "order_by": order_by, "initial": initial}
        return AskedStream(self.asked.then("keyed", key=key, **asked))

    def window(
        self,
        window: Window,
        *,
        by: str | tuple[str, ...] | list[str] = (),
        allowed_lateness: str = "0 seconds",
        emit: str = "final",
    ) -> "AskedWindow":
        return AskedWindow(self.asked, {"window": window, "by": by, "allowed_lateness": allowed_lateness, "emit": emit})

    @property
    def rejected(self) -> "AskedSide":
        return AskedSide("rejected")

    @property
    def late(self) -> "AskedSide":
        return AskedSide("late")

    @property
    def unmatched(self) -> "AskedSide":
        return AskedSide("unmatched")

    @property
    def duplicates(self) -> "AskedSide":
        return AskedSide("duplicate")

    @property
    def late_left(self) -> "AskedSide":
        return AskedSide("late")

    @property
    def late_right(self) -> "AskedSide":
        return AskedSide("late")

    @property
    def unmatched_left(self) -> "AskedSide":
        return AskedSide("unmatched")

    @property
    def unmatched_right(self) -> "AskedSide":
        return AskedSide("unmatched")

    def tagged(self, name: str) -> "AskedSide":
        return AskedSide(f"tag:{name}")

    def overflow(self, field: str) -> "AskedSide":
        return AskedSide(f"overflow:{field}")


def stream_of(source: str) -> AskedStream:
    """The stream of a source."""
    return AskedStream(Asked(source))


class AskedWindow:
    """A stream cut into windows, waiting for its aggregates: the two calls are one operator."""

    def __init__(self, asked: Asked, given: Mapping[str, Any]) -> None:
        self.asked, self.given = asked, given

    def aggregate(self, **aggregates: "Column | int") -> AskedStream:
        """A number is no aggregate: it says over how many tasks rows are dealt, and changes no row."""
        given = {name: one for name, one in aggregates.items() if not isinstance(one, int)}
        return AskedStream(self.asked.then("window", **self.given, aggregates=given))


@dataclass(frozen=True)
class AskedSide:
    """A side output; what it holds follows from the main outputs."""

    kind: str


def calls_of(config: "JobConfig") -> Mapping[str, Asked]:
    """By main output, what the job function asks for; its file is imported afresh.

    Raises
    ------
    StreamproofError
        What the user's function raises on streams that only write down.
    """
    with written_down():
        job = load_job(config)
        try:
            returned: Any = job.function(**{name: stream_of(name) for name in job.sources})
            outputs = streams_in(returned)
        except StreamproofError:
            raise
        except Exception as problem:  # it is the user's function: anything can happen in it
            raise JobDefinitionError(
                f"The job {job.name} failed when a proof called it to write down what it asks for: {type(problem).__name__}: {problem}",
                required="A proof calls the function with streams that have the public methods of sp.Stream and nothing else.",
            ) from problem
    return {name: output.asked for name, output in outputs.items()}


def streams_in(outputs: Any) -> Mapping[str, AskedStream]:
    """The main outputs of what a job returned that was called while `written_down`."""
    given: Mapping[str, Any] = outputs.asked_for
    return {name: output for name, output in given.items() if isinstance(output, AskedStream)}


@contextmanager
def written_down() -> Iterator[None]:
    """Meanwhile `Outputs` keeps what it is given, and each kind of window what was written."""

    def keep(outputs: Any, **given: Any) -> None:
        outputs.asked_for = given

    makers = {name: _writing_down(getattr(windows, name)) for name in KINDS}
    replaced: tuple[tuple[Any, str, Any], ...] = (
        (Outputs, "__init__", keep),
        *((place, name, maker) for place in (streamproof, stream, windows) for name, maker in makers.items()),
    )
    before = [(place, name, vars(place).get(name)) for place, name, _ in replaced]
    for place, name, value in replaced:
        setattr(place, name, value)
    try:
        yield
    finally:
        for place, name, value in before:
            if value is None:
                delattr(place, name)
            else:
                setattr(place, name, value)


def _writing_down(make: Callable[..., Made]) -> Callable[..., Made]:
    """A maker whose windows, or gaps, know how they were written; the job may ask them for all else as ever."""
    parameters = signature(make)

    def made(*args: Any, **kwargs: Any) -> Made:
        window = make(*args, **kwargs)
        given = WrittenWindow(make.__name__, parameters.bind(*args, **kwargs).arguments)
        object.__setattr__(window, "written", given)
        return window

    return made
