"""What the ledgers of services keep: the newest batches; what is older was published, and is refused (R7)."""

from streamproof.errors import TwoDrivers

KEPT = 1_000
"""So many batches of an output stay in its ledger. Rules ask for the newest, those of a checkpoint that was put back for some before it."""
AT_ONCE = 500
"""So many entries are dropped with one batch at most: after a pause there can be more."""


def overtaken(where: str, batch: str) -> TwoDrivers:
    """The error for a batch without an entry behind one that is published, in one place; `batch` says which, as `behind` does.

    Without it who wakes up with a batch whose entry was dropped would publish it again.
    """
    return TwoDrivers(
        f"{where} is given {batch}: that is older than what the ledger remembers.",
        required=f"Batches are published in order, and a ledger keeps the newest {KEPT:,}: one before them was published, or had no rows.",
        remedy="Stop the other driver if there is one. If the checkpoint was put back from a backup, put a newer one back, or start over "
        "with a new checkpoint and a new output.",
    )


def behind(batch: int, newest: int) -> str:
    return f"batch {batch} behind batch {newest}"
