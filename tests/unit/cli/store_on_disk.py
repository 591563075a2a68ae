"""A store whose objects are files on this disk, so that a test can look at them, take them away, and have the store fail."""

import threading
from pathlib import Path

import pytest
from pyarrow import fs

AWAY = (
    "When getting information for key 'x' in bucket 'bucket': AWS Error NETWORK_CONNECTION during HeadObject operation: "
    "curlCode: 7, Could not connect to server; Details: Failed to connect after 3 ms (Request ID: 8E3F)"
)


class OnDisk:
    """What `pyarrow.fs` would open for a URI of a bucket."""

    def __init__(self, root: Path) -> None:
        self.root, self.disk, self.sent = root, fs.LocalFileSystem(), list[str]()
        self.problem: BaseException | None = None
        self.opened: list[str] = []
        self._one = threading.Lock()
        self.left: int | None = None
        """So many writes begin before `problem` is raised; None: it is raised at once, with whatever is asked."""

    def from_uri(self, uri: str) -> "tuple[OnDisk, str]":
        self.opened.append(uri)
        base = uri.partition("?")[0].partition("://")[2]
        return self, str(self.root / base)

    def _fails(self) -> None:
        if self.problem is not None and self.left in (None, 0):
            raise self.problem

    def open_input_stream(self, path):
        self._fails()
        return self.disk.open_input_stream(path)

    def open_output_stream(self, path):
        with self._one:
            self._fails()
            stream = self.disk.open_output_stream(path)
            self.sent.append(path)
            if self.left:
                self.left -= 1
        return stream

    def get_file_info(self, selector):
        self._fails()
        return self.disk.get_file_info(selector)

    def create_dir(self, path, *, recursive):
        self.disk.create_dir(path, recursive=recursive)

    def delete_file(self, path):
        self._fails()
        self.disk.delete_file(path)


def store_on_disk(root: Path, monkeypatch: pytest.MonkeyPatch) -> OnDisk:
    """From now on every URI of a store is a folder below this one."""
    made = OnDisk(root)
    monkeypatch.setattr("pyarrow.fs.FileSystem", made)
    monkeypatch.setattr("streamproof.savepoints.store._OPENERS", {})
    return made
