"""Services that run already, named by their URLs, in the place of those that a proof would start."""

from collections.abc import Collection, Mapping

from streamproof.errors import ConfigurationError, LabError
from streamproof.prove.services.kind import Given
from streamproof.prove.services.kinds import KINDS

_GIVEN: Mapping[str, type[Given]] = {name: kind.given for name, kind in KINDS.items() if kind.given is not None}


def service_at(name: str, url: str) -> Given:
    """A service that can be given, by its name."""
    return _GIVEN[name](url)


def has_lines(name: str) -> bool:
    """Whether the proxy can stand before a service that is given."""
    return _GIVEN[name].has_lines


def required(given: Mapping[str, str], needed: Collection[str], stores: Collection[str]) -> None:
    """That each is one that the job needs, that a proof can keep apart what it has there, and that it answers.

    Raises
    ------
    ConfigurationError, LabError
        Where one cannot be given, or does not answer.
    """
    for name, url in given.items():
        _usable(name, url, needed, stores)
        try:
            service_at(name, url).ask()
        except Exception as problem:  # noqa: BLE001 -- clients of services raise what they like
            said = str(problem).strip().splitlines() or [type(problem).__name__]
            raise LabError(
                f"{name} at {service_at(name, url).shown} cannot be used for a proof: {said[0].rstrip('.')}.",
                remedy=f"Look whether it runs and is reached from here, or leave --service {name} out: one is started for the proof.",
            ) from None


def _usable(name: str, url: str, needed: Collection[str], stores: Collection[str]) -> None:
    if name in KINDS and (refused := KINDS[name].not_given) is not None:
        said, required = refused
        raise ConfigurationError(
            said, required=required, remedy=f"Leave --service {name} out: the stand-in is started for the proof."
        )
    if name not in _GIVEN:
        raise ConfigurationError(f'"{name}" is no service that can be given.', required=f"Those are {', '.join(_GIVEN)}.")
    if not service_at(name, url).readable:
        raise ConfigurationError(
            f"The address that is given for {name} cannot be read.",
            required=f'It is written "--service {name}={_GIVEN[name].example}"; it names its server there and nowhere else.',
        )
    if name not in needed:
        raise ConfigurationError(
            f"The job is not bound to {name}.",
            required=f"It is bound to {', '.join(needed) or 'no service'}.",
            remedy="--profile NAME chooses another binding.",
        )
    if name in stores and (why := _GIVEN[name].why_no_stores):
        raise ConfigurationError(
            f"A {KINDS[name].called} that runs already cannot hold a job's own stores in a proof.",
            required=why,
            remedy=f"Leave --service {name} out: one is started for the proof.",
        )


def hosts(given: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts of them all."""
    return tuple(dict.fromkeys(host for name, url in given.items() for host, _ in service_at(name, url).servers))


def server(name: str, url: str) -> str:
    """The host and port of a service that has one."""
    host, port = service_at(name, url).servers[0]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def left(given: Mapping[str, str], begins: str) -> list[str]:
    """Removes what a proof has made in them; says what could not be removed, and why."""
    problems = []
    for name, url in given.items():
        try:
            service_at(name, url).leave(begins)
        except Exception as problem:  # noqa: BLE001 -- the others are tried all the same
            said = str(problem).strip().splitlines() or [type(problem).__name__]
            problems.append(f"What the proof made in {name}, with names that begin with {begins}, could not be removed: {said[0]}")
    return problems
