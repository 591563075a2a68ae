"""Published batches that are gone and were accepted as lost (R26). They are kept in a file until a manifest names them."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from streamproof.core.formats import Format, NotOfTheFormat, require_keys
from streamproof.core.manifest import Chain, chain_of
from streamproof.runtime.journal.manifests import FOLDER

if TYPE_CHECKING:
    from streamproof._jvm import Storage

FORMAT = Format("a record of accepted losses")


@dataclass(frozen=True)
class Loss:
    """Of one output: how many batches are gone, the sum of their numbers, and the chain that the manifest after batch `behind` goes on from."""

    count: int
    sum: int
    behind: int
    chain: Chain


class Losses:
    """The losses of one query that were accepted, now by `accept` or by an earlier run, and that no manifest says yet.

    Of a file that is torn nothing is known: what is gone is asked for again.

    Raises
    ------
    UnknownFormat
        If the file is of a format that this version does not know (R30).
    """

    def __init__(self, storage: "Storage", checkpoint: str, *, accept: bool = False) -> None:
        self._storage = storage
        self._path = f"{checkpoint}/{FOLDER}/accepted_losses.json"
        self._accept = accept
        self._by_output = from_json(storage.read(self._path) or "", where=self._path)

    def lets_go(self, output: str, count: int, total: int) -> bool:
        """Whether these batches of an output may be gone: `count` of them, whose numbers sum up to `total`."""
        return self._accept or self.known(output, count, total)

    def known(self, output: str, count: int, total: int) -> bool:
        """Whether an earlier run has accepted this very loss."""
        loss = self._by_output.get(output)
        return loss is not None and (loss.count, loss.sum) == (count, total)

    def keep(self, output: str, loss: Loss) -> None:
        """Writes a loss down, for the manifest of the next new batch and for every start until then."""
        if self._by_output.get(output) != loss:
            self._by_output[output] = loss
            self._write()

    def earlier(self, output: str, batch: int) -> Chain | None:
        """The chain that a new batch goes on from; None where nothing was lost, or its manifest says so already."""
        loss = self._by_output.get(output)
        return loss.chain if loss is not None and loss.behind == batch - 1 else None

    def written_down(self, batch: int) -> None:
        """Forgets what the manifest of a batch says, which is published."""
        left = {output: loss for output, loss in self._by_output.items() if loss.behind >= batch}
        if left != self._by_output:
            self._by_output = left
            self._write()

    @property
    def outputs(self) -> Collection[str]:
        """The outputs of which something was accepted as lost that no manifest says yet."""
        return self._by_output.keys()

    def _write(self) -> None:
        if self._by_output:
            self._storage.replace_atomic(self._path, to_json(self._by_output))
        else:
            self._storage.delete(self._path)


def to_json(by_output: Mapping[str, Loss]) -> str:
    """The text of the losses of a query."""
    return FORMAT.text({"losses": {output: asdict(loss) for output, loss in by_output.items()}})


def from_json(text: str, *, where: str = "") -> dict[str, Loss]:
    """The losses that a text holds, by output; none where it is torn, UnknownFormat if its format is not known (R30)."""
    try:
        return FORMAT.read(text, where, _made)
    except ValueError:
        return {}


def _made(found: Mapping[str, Any]) -> dict[str, Loss]:
    others = found.keys() - {"losses"}
    if others:
        raise NotOfTheFormat(f'with the key "{min(others)}", which is not part of it')
    return {output: _loss(loss) for output, loss in found["losses"].items()}


def _loss(found: Mapping[str, Any]) -> Loss:
    require_keys(Loss, found)
    return Loss(**{**found, "chain": chain_of(found["chain"])})
