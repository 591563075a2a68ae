"""Who may look at a page that other machines reach: whoever has its token."""

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamproof.core.ids import new_id
from streamproof.errors import ConfigurationError
from streamproof.observe.addresses import is_loopback, means_this_machine

VARIABLE = "STREAMPROOF_LIVE_TOKEN"
COOKIE = "streamproof_live"
PARAMETER = "token"
_PLACE = Path(".streamproof", "live-token")
_SHORTEST = 16


@dataclass(frozen=True)
class Access:
    """Whether a request may be answered.

    Parameters
    ----------
    token
        What must come with a request; None where only this machine reaches the page.
    where
        Where a person finds the token, in words.
    """

    token: str | None = None
    where: str = ""

    def __repr__(self) -> str:
        return f"Access({'without a token' if self.token is None else 'with a token'})"

    def knows(self, given: str) -> bool:
        """Whether this is the token; takes as long for a wrong one as for the right one."""
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def admits(self, headers: Mapping[str, str]) -> bool:
        """Whether a request with these headers may be answered: its cookie or its `Authorization: Bearer` has the token."""
        if self.token is None:
            return True
        kind, _, given = headers.get("authorization", "").partition(" ")
        kept = _cookie(headers.get("cookie", ""), cookie_at(headers))
        return (kind.lower() == "bearer" and self.knows(given.strip())) or self.knows(kept)

    def is_at(self, headers: Mapping[str, str]) -> bool:
        """Whether the request means this machine: a page of another site can give its own name our address, and would read what we answer."""
        asks_for_a_token = self.token is not None  # the browser has it in a cookie of our name, and gives it to no other
        return asks_for_a_token or means_this_machine(headers.get("host"))


def access_to(host: str, folder: Path) -> Access:
    """Without a token where only this machine reaches `host`; else with that of the environment, or one that is kept in the folder of the job.

    The kept one stays from run to run, so that a page that is open goes on when the job was started again.

    Raises
    ------
    ConfigurationError
        If the token is too short, or cannot be kept.
    """
    if is_loopback(host):
        return Access()
    given = os.environ.get(VARIABLE)
    if given is not None:
        if len(given) < _SHORTEST:
            raise ConfigurationError(
                f"The token in {VARIABLE} has {len(given)} characters.",
                required=f"At least {_SHORTEST}: other machines reach the live page on {host}, and could guess it.",
                remedy=f"Set a longer one, or none: then one is made, and kept in {_PLACE}.",
            )
        return Access(given, f"in {VARIABLE}")
    return Access(_kept(folder / _PLACE), f"in {_PLACE}")


def _kept(path: Path) -> str:
    """The token in a file that only its owner can read; a new one where there is none, or others could read it."""
    try:
        if path.is_file() and not path.stat().st_mode & 0o077:
            known = path.read_text(encoding="ascii").strip()
            if len(known) >= _SHORTEST:
                return known
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        made = new_id()
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{made}\n")
    except (OSError, ValueError) as problem:
        raise ConfigurationError(
            f"The token of the live page cannot be kept in {path}: {problem}.",
            required="A file that can be written, since other machines reach the page.",
            remedy=f"Set the token yourself, in the environment variable {VARIABLE}; or show the page on this machine only: --live 9465.",
        ) from problem
    return made


def cookie_at(headers: Mapping[str, str]) -> str:
    """The name of the cookie that keeps the token: browsers send cookies to every port of a host, and there can be a job on each."""
    port = headers.get("host", "").rpartition(":")[2]
    return f"{COOKIE}_{port}" if port.isdigit() else COOKIE


def _cookie(header: str, name: str) -> str:
    """The cookie of this name. Read by hand: Python's own reader gives up at the first cookie of another page that it dislikes."""
    for each in header.split(";"):
        found, _, value = each.partition("=")
        if found.strip() == name:
            return value.strip().strip('"')
    return ""
