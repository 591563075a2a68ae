"""`run --live` and `prove --live`: where the page is, and what it listens to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.cli import screen

if TYPE_CHECKING:
    from streamproof.observe.addresses import Patience
    from streamproof.observe.live.place import Place
    from streamproof.observe.live.server import LivePage
    from streamproof.proof_page import ProofBoard
    from streamproof.runtime.watching.events import Listener


def place(address: str | None, folder: Path, patience: "Patience | None" = None) -> "Place | None":
    """The place of a page, taken before anything begins; None where no page is asked for. `patience` is for a port that is taken."""
    if address is None:
        return None
    from streamproof.observe.live import place as places

    return places.place(address, folder, patience=patience)


@contextmanager
def of_run(job: str, address: str | None, folder: Path) -> "Iterator[list[Listener]]":
    """Shows a run on its page as long as it lasts; gives the listeners that this takes."""
    from streamproof.observe import addresses

    at = place(address, folder, addresses.FOR_A_DRIVER_THAT_ENDS)
    if at is None:
        yield []
        return
    from streamproof.observe.live.board import RunBoard
    from streamproof.observe.live.server import LivePage

    board = RunBoard(job)
    with LivePage(board, at.listens, at.access) as page:
        _say_where(page, at, "this run")
        yield [board]


@contextmanager
def of_proof(job: str, at: "Place | None", again: Callable[[str, int | None], str]) -> "Iterator[ProofBoard | None]":
    """Shows a proof on its page as long as it lasts; gives what is to hear its events, and its verdict."""
    if at is None:
        yield None
        return
    from streamproof.observe.live.server import LivePage
    from streamproof.proof_page import ProofBoard

    board = ProofBoard(job, again)
    with LivePage(board, at.listens, at.access) as page:
        _say_where(page, at, "this proof")
        yield board


def _say_where(page: "LivePage", at: "Place", what: str) -> None:
    """The token itself is said nowhere: what is printed may be a log."""
    token = f", with the token {at.access.where}" if at.access.where else ""
    screen.print_note(f"Live page of {what}: {page.url}{token}")
