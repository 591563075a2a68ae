"""From the text of a .proto file to classes of messages, by protoc."""

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from streamproof.connectors.registry.wire import Broken

_FILE = "streamproof_schema.proto"


@dataclass(frozen=True)
class ProtoFile:
    """A .proto file, compiled: its messages."""

    file: Any

    def at(self, indexes: Sequence[int]) -> Any:
        """The message at a path of indexes; Broken where there is none."""
        found: Any = None
        for index in indexes:
            inner = list(self.file.message_types_by_name.values()) if found is None else found.nested_types
            if not 0 <= index < len(inner):
                raise Broken("has no message at the record's indexes")
            found = inner[index]
        return found

    def named(self, message: str | None) -> Any:
        """A message on the top of the file by its name, None for the first; Broken where there is none."""
        if message is None:
            return self.at((0,))
        found = self.file.message_types_by_name.get(message.rpartition(".")[2])
        if found is None:
            raise Broken(f"has no message {message}; it has {', '.join(self.file.message_types_by_name)}")
        return found

    def index_of(self, descriptor: Any) -> int:
        return list(self.file.message_types_by_name.values()).index(descriptor)


def class_of(descriptor: Any) -> Any:
    """The class of a message."""
    return message_factory.GetMessageClass(descriptor)


def compiled(text: str, referred: Mapping[str, str]) -> ProtoFile:
    """A .proto file with those that it imports, by their names; Google's own need not be given. The same text is compiled once a process.

    Raises
    ------
    Broken
        If protoc refuses it, with what it says.
    """
    return _compiled(text, tuple(sorted(referred.items())))


@lru_cache(maxsize=256)
def _compiled(text: str, referred: tuple[tuple[str, str], ...]) -> ProtoFile:
    own = find_spec("grpc_tools")
    assert own is not None, "the extra is looked for before"
    assert own.origin is not None, "it is a package with files"
    with tempfile.TemporaryDirectory(prefix="streamproof-proto-") as folder:
        for name, content in ((_FILE, text), *referred):
            path = Path(folder, name).resolve()
            if not path.is_relative_to(Path(folder).resolve()):
                raise Broken("imports a file outside of its folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        includes = (f"-I{folder}", f"-I{Path(own.origin).parent / '_proto'}")
        out = Path(folder, "set")
        command = [sys.executable, "-m", "grpc_tools.protoc", *includes, "--include_imports", f"--descriptor_set_out={out}", _FILE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = next((line for line in done.stderr.splitlines() if ".proto:" in line), "no reason given")  # after its own log
            raise Broken(f"is no .proto file that protoc takes: {said.replace(f'{folder}/', '').removeprefix(f'{_FILE}:')}")
        found = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in found.file:
        pool.Add(file)
    return ProtoFile(pool.FindFileByName(_FILE))
