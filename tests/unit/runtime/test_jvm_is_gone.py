"""A JVM that is gone is told from any other connection that was refused."""

from py4j.protocol import Py4JNetworkError

from streamproof import _jvm
from streamproof.errors import RegistryError


def raised(problem: Exception, context: Exception, *, hidden: bool = False) -> Exception:
    """The problem as it comes from where another one was handled."""
    problem.__context__, problem.__suppress_context__ = context, hidden
    return problem


def test_only_what_py4j_says_counts():
    assert _jvm.is_gone(raised(RegistryError("stopped"), Py4JNetworkError("no JVM")))
    assert _jvm.is_gone(Py4JNetworkError("no JVM"))
    assert not _jvm.is_gone(raised(RegistryError("stopped"), ConnectionRefusedError("of the registry")))
    assert not _jvm.is_gone(raised(RegistryError("stopped"), Py4JNetworkError("no JVM"), hidden=True))
    assert not _jvm.is_gone(RegistryError("stopped"))
