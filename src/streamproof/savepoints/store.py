"""A store that backups go to, by four verbs over `pyarrow.fs`: S3, Google Cloud Storage, Azure, HDFS.

Credentials come from where each store's own tools take them, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and are in no message.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from streamproof.config.backup import ALIASES
from streamproof.errors import CheckpointError, ConfigurationError, StoreUnavailable, StreamproofError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_CHUNK = 1 << 20
_AWS = re.compile(r"AWS Error (?P<code>\w+) during \w+ operation(?:: (?P<said>[^;(]*))?")
_REFUSALS = re.compile(r"ACCESS_DENIED|NO_SUCH_BUCKET|SIGNATURE|ACCESS_KEY|TOKEN|CREDENTIALS|AUTHORIZATION|VALIDATION")
"""Codes of S3 that stay the same however often one asks."""
_DIFFERS = "VALIDATION"
"""Of what is read: its checksum is another one."""
_SECRET = re.compile(r"SECRET|TOKEN|PASSWORD|CREDENTIAL|_KEY", re.IGNORECASE)
_SECRETS_ARE_AT_LEAST, _SHOWN = 8, 200
_ATTEMPTS, _ANSWERS_WITHIN = 2, 3
"""Times, and seconds. A backup that fails is tried again anyway, and what was sent is not sent again."""
_AWS_SAYS = frozenset({"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"})
"""Variables with any of which a bucket's region need not be asked for."""
_SAID = {"true": True, "false": False}


class Store:
    """A place in a store; names in it are relative to it, with "/" between folders.

    Parameters
    ----------
    uri
        "s3://bucket/prefix", or with another scheme that `pyarrow.fs.FileSystem.from_uri` understands.
    endpoint, region
        Where a store other than Amazon's or Google's answers, and its region.
    """

    def __init__(self, uri: str, *, endpoint: str | None = None, region: str | None = None) -> None:
        base, _, options = uri.partition("?")
        scheme, _, rest = base.rstrip("/").partition("://")
        self.uri = f"{ALIASES.get(scheme, scheme)}://{rest}"
        """Without what stands after "?", for messages too."""
        given = (("endpoint_override", endpoint), ("region", region))
        self._options = dict(parse_qsl(options)) | {key: value for key, value in given if value}
        self._ended = threading.Event()

    def end(self) -> None:
        """Has whatever is under way fail soon, since the process ends and would wait for it."""
        self._ended.set()

    def read(self, name: str) -> Iterator[bytes]:
        """What an object has, in pieces.

        Raises
        ------
        FileNotFoundError
            If it is not there.
        CheckpointError
            If the store's own checksum says that it is not what was sent.
        StoreUnavailable, ConfigurationError
            If the store does not answer, or refuses; of every verb.
        """
        with self._asked("cannot be read", reading=True):
            files, base = self._opened
            with files.open_input_stream(f"{base}/{name}") as stream:
                while piece := stream.read(_CHUNK):
                    self._require_going_on()
                    yield piece

    def write(self, name: str, content: bytes | Path) -> None:
        """Makes an object, or replaces it."""
        with self._asked("cannot be written to"):
            files, base = self._opened
            path = f"{base}/{name}"
            try:
                stream = files.open_output_stream(path)
            except FileNotFoundError:  # a file system with folders; a store of objects has none to make
                files.create_dir(path.rpartition("/")[0], recursive=True)
                stream = files.open_output_stream(path)
            with stream:
                for piece in pieces_of(content):
                    self._require_going_on()
                    stream.write(piece)

    def list(self, folder: str = "") -> dict[str, int]:
        """The names directly in a folder and their bytes, -1 for a folder; none where it is not there."""
        from pyarrow.fs import FileSelector, FileType

        with self._asked("cannot be listed"):
            files, base = self._opened
            found = files.get_file_info(FileSelector(f"{base}/{folder}".rstrip("/"), allow_not_found=True))
            return {one.base_name: one.size if one.type == FileType.File else -1 for one in found}

    def remove(self, name: str) -> None:
        """Removes an object, if it is there."""
        with self._asked("cannot be removed from"):
            files, base = self._opened
            try:
                files.delete_file(f"{base}/{name}")
            except FileNotFoundError:
                return

    @cached_property
    def _opened(self) -> "tuple[FileSystem, str]":
        """The file system and the path in it; asking for a bucket's region is a first question to the store."""
        scheme, _, path = self.uri.partition("://")
        return _OPENERS.get(scheme, _by_uri)(scheme, path, self._options)

    def _require_going_on(self) -> None:
        if self._ended.is_set():
            raise StoreUnavailable(f"{self.uri} is not asked any more, since the process ends.")

    @contextmanager
    def _asked(self, what: str, *, reading: bool = False) -> Iterator[None]:
        """Has what a store says come out as errors of ours, which say the same for the same cause, and no secret."""
        from pyarrow import ArrowException

        self._require_going_on()
        try:
            yield
        except FileNotFoundError:
            if reading:
                raise
            raise self._failed(what, "its folder is not there.", refused=True) from None
        except (OSError, ArrowException, ImportError) as problem:  # a pyarrow may have been built without a store
            aws = _AWS.search(str(problem))
            if aws and reading and aws["code"] == _DIFFERS:
                raise CheckpointError("an object is not what was sent, by the store's own checksum.") from None
            said = (
                f"{aws['code']}{f' ({one})' if (one := (aws['said'] or '').strip(' .')) else ''}." if aws else _first_line(problem)
            )
            refused = (
                bool(_REFUSALS.search(aws["code"]))
                if aws
                else not isinstance(problem, OSError) or isinstance(problem, PermissionError)
            )
            raise self._failed(what, without_secrets(said), refused=refused) from None

    def _failed(self, what: str, said: str, *, refused: bool) -> StreamproofError:
        if refused:
            return ConfigurationError(
                f"{self.uri} {what}: {said}",
                required="The bucket has to be there, and this user needs the rights to list, read, write and remove below that prefix. Credentials come from "
                "the environment, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
                remedy="Look at the address, the region, the endpoint and the credentials.",
            )
        return StoreUnavailable(
            f"{self.uri} does not answer: {said}",
            required="A backup lies in that store, and it has to answer. Former backups are as they were.",
            remedy="Run this again once it answers; what was sent already is not sent again.",
        )


def _by_uri(scheme: str, path: str, options: Mapping[str, str]) -> "tuple[FileSystem, str]":
    from pyarrow.fs import FileSystem

    files, base = FileSystem.from_uri(f"{scheme}://{path}{f'?{urlencode(options)}' if options else ''}")
    return files, base.rstrip("/")


def _s3(_scheme: str, path: str, options: Mapping[str, str]) -> "tuple[FileSystem, str]":
    """With fewer tries than a URI gives: the process waits for a question that is under way when it ends, and those of a URI take minutes."""
    from pyarrow import ArrowInvalid
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region

    known: dict[str, Any] = {key: _SAID.get(value, value) for key, value in options.items()}
    if not known.keys() & {"region", "endpoint_override"} and not os.environ.keys() & _AWS_SAYS:
        known["region"] = resolve_s3_region(path.partition("/")[0])
    tries = AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS)
    try:
        return S3FileSystem(**known, retry_strategy=tries, request_timeout=_ANSWERS_WITHIN, connect_timeout=_ANSWERS_WITHIN), path
    except TypeError:
        raise ArrowInvalid(f"One of these options is not known: {', '.join(options)}") from None


def _gs(scheme: str, path: str, options: Mapping[str, str]) -> "tuple[FileSystem, str]":
    return _by_uri(scheme, path, {"retry_limit_seconds": str(_ATTEMPTS * _ANSWERS_WITHIN), **options})


_OPENERS: Mapping[str, Callable[[str, str, Mapping[str, str]], "tuple[FileSystem, str]"]] = {"s3": _s3, "gs": _gs}
"""Of the stores that are not opened by their URI as it is."""


def pieces_of(content: bytes | Path) -> Iterator[bytes]:
    """Bytes, or those of a file, in pieces."""
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while piece := file.read(_CHUNK):
            yield piece


def without_secrets(said: str) -> str:
    """A text in which no value of a secret of this process's environment stands."""
    for name, value in os.environ.items():
        if _SECRET.search(name) and len(value) >= _SECRETS_ARE_AT_LEAST:
            said = said.replace(value, "…")
    return said


def _first_line(problem: BaseException) -> str:
    line = re.sub(r"\?\S+", "?…", str(problem).partition("\n")[0])  # an address may carry a signature
    return f"{line[:_SHOWN].rstrip('. ')}."
