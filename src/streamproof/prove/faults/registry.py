"""Faults on the schema registry: it is killed."""

from streamproof.errors import RegistryUnavailable
from streamproof.lab.registry import Registry
from streamproof.prove.faults.fault import ServiceFault, Struck


def _kill(struck: Struck) -> None:
    registry = struck.services["registry"]
    assert isinstance(registry, Registry), "the lab's service of this name"
    registry.kill()


def _noticed(struck: Struck) -> bool:
    """Whether the job noticed. It remembers schemas, so a job that needs no new one goes on without the registry."""
    return struck.stopped_by == RegistryUnavailable.code


FAULTS = (
    ServiceFault(
        "registry-killed",
        "registry",
        "the registry is killed with kill -9 and stays away until the job has stopped",
        _kill,
        met=_noticed,
    ),
)
