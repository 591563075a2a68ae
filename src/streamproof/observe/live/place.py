"""Where a page is reached, taken before anything begins."""

from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING

from streamproof.connectors.extras import library

if TYPE_CHECKING:
    from streamproof.observe.addresses import Patience, Wanted
    from streamproof.observe.live.access import Access


@dataclass(frozen=True)
class Place:
    """Where a page is reached, and who may look."""

    listens: socket
    access: "Access"


def place(address: str, folder: Path, wanted: "Wanted | None" = None, patience: "Patience | None" = None) -> Place:
    """The place of a page, taken before anything begins.

    Parameters
    ----------
    folder
        That of the job: the token of a page that other machines reach is kept there.
    wanted
        How it was asked for, where that was not `--live`; for errors.
    patience
        For how long a port that is taken is waited for; not at all without it.

    Raises
    ------
    MissingExtra
        If the libraries of the page are not installed.
    ConfigurationError
        If it is no address.
    PortTaken
        If the port is taken.
    """
    for module in ("starlette", "uvicorn"):
        library(module, "live", "the live page")
    from streamproof.observe.addresses import NO_PATIENCE
    from streamproof.observe.live.access import access_to
    from streamproof.observe.live.server import WANTED, bound

    listens = bound(address, wanted or WANTED, patience or NO_PATIENCE)
    return Place(listens, access_to(listens.getsockname()[0], folder))
