"""The network between a job and a service, by Toxiproxy: slow, narrow, cut, and the answer that never comes."""

from collections.abc import Callable, Iterator

from streamproof.core.phases import Side
from streamproof.prove.faults.fault import OUTAGE_SECONDS, ServiceFault, Struck

_SERVICES = {"kafka": "Kafka", "postgres": "PostgreSQL", "redis": "Redis", "api": "the API", "registry": "the registry"}
_NARROW = 64
"""KB in a second."""


def faults() -> Iterator[ServiceFault]:
    """Those of every service: `<service>-<what>`, on the lines to it."""
    for service, called in _SERVICES.items():
        yield _slow(service, "latency", f"every answer of {called} takes 100 ms longer", latency=100)
        yield _slow(service, "jitter", f"answers of {called} take up to 200 ms longer, each another time", latency=100, jitter=100)
        yield _slow(service, "bandwidth", f"the line to {called} carries {_NARROW} KB in a second", kind="bandwidth", rate=_NARROW)
        away = f"for {OUTAGE_SECONDS:g} seconds"
        yield ServiceFault(
            f"{service}-reset", service, f"{called} resets every connection {away}", _reset(service), _mended(service), by_line=True
        )
        yield ServiceFault(
            f"{service}-partition",
            service,
            f"the network loses {called} {away}",
            _partition(service),
            _mended(service),
            by_line=True,
        )
        yield ServiceFault(
            f"{service}-answer-lost",
            service,
            f"{called} does what it was told, and its answer is lost",
            _answer_lost(service),
            _mended(service),
            by_line=True,
            sides=(Side.BEFORE, Side.AFTER) if service == "api" else (Side.BEFORE,),  # a transaction is one answer, calls are many
        )


def _slow(service: str, name: str, words: str, kind: str = "latency", **attributes: int) -> ServiceFault:
    def strike(struck: Struck) -> None:
        for line in struck.lines[service]:
            line.toxic(kind, **attributes)  # type: ignore[arg-type]  # they are whole numbers, `towards` is none of them

    return ServiceFault(f"{service}-{name}", service, words, strike, _mended(service), by_line=True)


def _reset(service: str) -> Callable[[Struck], None]:
    def strike(struck: Struck) -> None:
        for line in struck.lines[service]:
            line.toxic("reset_peer", timeout=0)
        struck.later(lambda: _mended(service)(struck))

    return strike


def _partition(service: str) -> Callable[[Struck], None]:
    def strike(struck: Struck) -> None:
        for line in struck.lines[service]:
            line.cut()
        struck.later(lambda: _mended(service)(struck))

    return strike


def _answer_lost(service: str) -> Callable[[Struck], None]:
    """What the job sends arrives; what comes back is swallowed, and the connection closed half a second later."""

    def strike(struck: Struck) -> None:
        for line in struck.lines[service]:
            line.toxic("timeout", timeout=500)
        struck.later(lambda: _mended(service)(struck))

    return strike


def _mended(service: str) -> Callable[[Struck], None]:
    def mend(struck: Struck) -> None:
        for line in struck.lines[service]:
            line.mend()

    return mend
