"""Client libraries that connect from C, by name: where the kernel does not keep a proof from real places, they are refused here.

Python is not told of what they do. So the functions that they connect by are replaced once they are imported.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

CONNECTING: Mapping[str, Sequence[str]] = {
    "psycopg.connection": ("Connection.connect",),
    "psycopg.connection_async": ("AsyncConnection.connect",),
    "psycopg": ("connect",),
    "psycopg2": ("connect", "_connect"),
    "psycopg2cffi": ("connect",),
    "MySQLdb": ("connect", "Connect", "Connection"),
    "mysql.connector": ("connect",),
    "mariadb": ("connect",),
    "pyodbc": ("connect",),
    "turbodbc": ("connect",),
    "oracledb": ("connect", "create_pool", "connect_async", "create_pool_async"),
    "cx_Oracle": ("connect", "SessionPool"),
    "pymssql": ("connect",),
    "ibm_db": ("connect", "pconnect"),
    "adbc_driver_postgresql.dbapi": ("connect",),
    "adbc_driver_flightsql.dbapi": ("connect",),
    "connectorx": ("read_sql",),
    "confluent_kafka": ("Producer", "Consumer", "SerializingProducer", "DeserializingConsumer"),
    "confluent_kafka.admin": ("AdminClient",),
    "pulsar": ("Client",),
    "duckdb": ("connect",),
    "pycurl": ("Curl",),
    "grpc": ("insecure_channel", "secure_channel"),
    "grpc.aio": ("insecure_channel", "secure_channel"),
    "zmq": ("Context",),
    "deltalake": ("write_deltalake",),
    "pyarrow.fs": ("S3FileSystem", "GcsFileSystem", "AzureFileSystem", "HadoopFileSystem"),
    "pyarrow.flight": ("connect", "FlightClient"),
}
"""By module what connects; a name with a dot is a method of a class."""
_IN_MEMORY = ("", ":memory:")


def install(is_of_the_proof: Callable[[str], bool], refuse: Callable[[str], None]) -> None:
    """Replaces what connects, in what is imported already and in what will be.

    Parameters
    ----------
    is_of_the_proof
        Whether a text, all that a call is given, names a place of the proof.
    refuse
        Raises for a call, by its name.
    """

    def replace(module: ModuleType) -> None:
        for name in CONNECTING[module.__name__]:
            owner, _, last = name.rpartition(".")
            holder: Any = getattr(module, owner, None) if owner else module
            found = getattr(holder, last, None)
            if found is not None:
                guarded = _guarded(f"{module.__name__}.{name}", found, is_of_the_proof, refuse)
                setattr(holder, last, staticmethod(guarded) if owner else guarded)

    for name in CONNECTING:
        if name in sys.modules:
            replace(sys.modules[name])
    sys.meta_path.insert(0, _Finder(replace))


def _guarded(name: str, found: Any, is_of_the_proof: Callable[[str], bool], refuse: Callable[[str], None]) -> Any:
    def look(arguments: Sequence[Any], options: Mapping[str, Any]) -> None:
        if not (name == "duckdb.connect" and _is_in_memory(arguments, options)) and not is_of_the_proof(repr((arguments, options))):
            refuse(name)

    def looked_at(*arguments: Any, **options: Any) -> Any:
        look(arguments, options)
        return found(*arguments, **options)

    return (_guarded_class(found, look) if isinstance(found, type) else None) or looked_at


def _guarded_class(found: Any, look: Callable[[Sequence[Any], Mapping[str, Any]], None]) -> Any:
    """The class with a look before its constructor, so that others still inherit from it; of one in C a class below it, where it may have one."""
    if found.__init__ is object.__init__:  # it is made ready by __new__

        def new(cls: Any, *arguments: Any, **options: Any) -> Any:
            look(arguments, options)
            return found.__new__(cls, *arguments, **options)

        own: dict[str, Any] = {"__new__": new}
    else:
        made = found.__init__

        def init(self: Any, *arguments: Any, **options: Any) -> None:
            look(arguments, options)
            made(self, *arguments, **options)

        own = {"__init__": init}
    with suppress(TypeError):
        if "__init__" in own:
            found.__init__ = own["__init__"]
            return found
    with suppress(TypeError):
        return type(found)(found.__name__, (found,), {**own, "__module__": found.__module__, "__doc__": found.__doc__})
    return None


def _is_in_memory(arguments: Sequence[Any], options: Mapping[str, Any]) -> bool:
    return str(arguments[0] if arguments else options.get("database", "")) in _IN_MEMORY


class _Finder(MetaPathFinder):
    """Finds these modules as Python does, and replaces what is in them once they are there."""

    def __init__(self, replace: Callable[[ModuleType], None]) -> None:
        self._replace, self._looking = replace, False

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname not in CONNECTING or self._looking:
            return None
        self._looking = True
        try:
            spec = find_spec(fullname)
        finally:
            self._looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Replacing(spec.loader, self._replace)
        return spec


class _Replacing(Loader):
    def __init__(self, loader: Loader, replace: Callable[[ModuleType], None]) -> None:
        self._loader, self._replace = loader, replace

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._replace(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
