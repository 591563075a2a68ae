"""What a job does by itself to the files of its checkpoints, from Python or by Hadoop's file system: it is done to the folder that stands for them."""

import builtins
import io
import os
import shutil
from collections.abc import Callable
from typing import Any

from streamproof import _jvm
from streamproof.prove.subjects.pyspark.identity import Identity

_ONE_PATH = ("stat", "lstat", "listdir", "scandir", "remove", "unlink", "rmdir", "mkdir", "open", "access", "chmod", "utime")


def bind_own_files(identity: Identity) -> None:
    """Binds the functions of Python and of Hadoop's file system by which a job looks at its checkpoints and deletes them."""
    for name in _ONE_PATH:
        setattr(os, name, _led(getattr(os, name), identity))
    builtins.open = io.open = _led(builtins.open, identity)  # `pathlib` takes that of `io`
    os.makedirs = _led(os.makedirs, identity)
    shutil.rmtree = _deleting(shutil.rmtree, identity)
    for name in ("rename", "replace"):
        setattr(os, name, _moving(getattr(os, name), identity))
    _jvm.answer_file_system_calls(_by_hadoop(identity))


def _led(real: Callable[..., Any], identity: Identity) -> Any:
    """A function of one path, led to the scenario where the path is of a checkpoint."""

    def led(path: Any = ".", *arguments: Any, **options: Any) -> Any:
        if not isinstance(path, str | bytes | os.PathLike) or options.get("dir_fd") is not None:
            return real(path, *arguments, **options)
        try:
            return real(identity.bound(path) or path, *arguments, **options)
        except FileNotFoundError:
            if identity.below(path):  # a folder of checkpoints, which exists in the scenario alone
                return real(identity.folder_of_checkpoints, *arguments, **options)
            raise

    return led


def _deleting(real: Callable[..., Any], identity: Identity) -> Any:
    def rmtree(path: Any, *arguments: Any, **options: Any) -> Any:
        if identity.delete_all(identity.below(path)):
            return None
        return real(identity.bound(path) or path, *arguments, **options)

    return rmtree


def _moving(real: Callable[..., Any], identity: Identity) -> Any:
    """A checkpoint that is moved away is not there any more."""

    def move(source: Any, target: Any, **options: Any) -> Any:
        if identity.delete_all(identity.below(source)):
            return None
        return real(identity.bound(source) or source, identity.bound(target) or target, **options)

    return move


def _by_hadoop(identity: Identity) -> Callable[[str, str], bool | None]:
    """`FileSystem.delete` and `exists`, called through `spark._jvm`."""

    def answer(method: str, path: str) -> bool | None:
        places = identity.below(path)
        if not places:
            return None
        if method == "exists":
            return any(there is not None and there.exists() for there in map(identity.bound, places))
        return identity.delete_all(places)

    return answer
