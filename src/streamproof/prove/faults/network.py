"""The network between a job and a service, by Toxiproxy: slow, narrow, cut, and the answer that never comes."""

from collections.abc import Callable, Iterator
from contextlib import suppress

from streamproof.core.phases import Side
from streamproof.errors import LabError
from streamproof.lab.process import until
from streamproof.lab.toxiproxy import Proxy
from streamproof.prove.faults.fault import OUTAGE_SECONDS, Aim, ServiceFault, Struck
from streamproof.prove.services.kinds import KINDS

_NARROW = 64
"""KB in a second."""
_CLOSED_MS = 500
"""So long a connection stays open on which no answer comes."""


_SETTLED_SECONDS = 1.0
"""In so long the proxy has counted what went over connections that have ended."""


def faults() -> Iterator[ServiceFault]:
    """Those of every service: `<service>-<what>`, on the lines to it."""
    for kind in KINDS.values():
        if not kind.server:
            continue
        service, called = kind.name, kind.called
        yield _slow(service, "latency", f"every answer of {called} takes 100 ms longer", latency=100)
        yield _slow(service, "jitter", f"answers of {called} take up to 200 ms longer, each another time", latency=100, jitter=100)
        yield _slow(service, "bandwidth", f"the line to {called} carries {_NARROW} KB in a second", kind="bandwidth", rate=_NARROW)
        away = f"for {OUTAGE_SECONDS:g} seconds"
        yield _away(service, "reset", f"{called} resets every connection {away}", lambda line: line.toxic("reset_peer", timeout=0))
        yield _away(service, "partition", f"the network loses {called} {away}", _lose)
        lost = f"{called} does what it was told, and its answer is lost"
        if kind.batches_wait:  # without Kafka or the registry there is no next batch while one waits
            yield _outage(service, called)
        yield _away(service, "answer-lost", lost, lambda line: line.toxic("timeout", timeout=_CLOSED_MS), kind.lost_answers)


def _slow(service: str, name: str, words: str, kind: str = "latency", **attributes: int) -> ServiceFault:
    """Until the job has ended."""

    def strike(struck: Struck) -> None:
        _on_lines(struck, service, lambda line: line.toxic(kind, **attributes))  # type: ignore[arg-type]  # whole numbers, no `towards`

    return ServiceFault(f"{service}-{name}", service, words, strike, _mended(service), _unused(service), _met, by_line=True)


def _away(
    service: str, name: str, words: str, does: Callable[[Proxy], None], sides: tuple[Side, ...] = (Side.BEFORE, Side.AFTER)
) -> ServiceFault:
    """For a while."""

    def strike(struck: Struck) -> None:
        _on_lines(struck, service, does)
        struck.later(lambda: _mended(service)(struck))

    return ServiceFault(
        f"{service}-{name}", service, words, strike, _mended(service), _unused(service), _met, by_line=True, aim=Aim(sides)
    )


def _outage(service: str, called: str) -> ServiceFault:
    """Until the driver has died in the next batch, has started again, and has found the service down once more.

    Both batches must be published in the end, each once, in order. It fired if the first one was committed, still staged, and
    in no ledger when the driver died.
    """

    def strike(struck: Struck) -> None:
        _on_lines(struck, service, lambda line: line.cut())  # the commit that comes next must not get through

    words = f"{called} is not reached until the process has died in the next batch and started again,"
    return ServiceFault(
        f"{service}-outage",
        service,
        words,
        strike,
        _mended(service),
        _unused(service),
        _met,
        by_line=True,
        aim=Aim((Side.BEFORE,), own_sinks=False),  # whether they may fall behind is theirs to say
        over_next_batch=True,
    )


def _lose(line: Proxy) -> None:
    """Drops what either side sends, on new connections too."""
    for towards in ("downstream", "upstream"):
        line.toxic("timeout", towards=towards, timeout=_CLOSED_MS)


def _on_lines(struck: Struck, service: str, does: Callable[[Proxy], None]) -> None:
    struck.kept["carried"] = _carried(struck, service)
    for line in struck.lines[service]:
        does(line)


def _unused(service: str) -> Callable[[Struck], None]:
    """Ends what other jobs in this process have left open."""

    def make_ready(struck: Struck) -> None:
        for line in struck.lines[service]:
            line.cut()
            line.mend()

    return make_ready


def _mended(service: str) -> Callable[[Struck], None]:
    def mend(struck: Struck) -> None:
        if "met" not in struck.kept:
            struck.kept["met"] = _was_used(struck, service)
        for line in struck.lines[service]:
            line.mend()

    return mend


def _was_used(struck: Struck, service: str) -> bool:
    """Whether a connection of the job was there when the fault was done, or came during it, and carried anything; ends them all."""
    before: int | None = struck.kept.get("carried")
    if before is None:
        return False
    for line in struck.lines[service]:
        line.cut()  # what a connection carries is counted when it ends
    with suppress(LabError):
        until(lambda: _carried(struck, service) > before, "a connection to end", _SETTLED_SECONDS)
    return _carried(struck, service) > before


def _met(struck: Struck) -> bool:
    return bool(struck.kept.get("met"))


def _carried(struck: Struck, service: str) -> int:
    return sum(line.carried() for line in struck.lines[service])
