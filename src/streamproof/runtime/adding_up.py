"""An account that does not add up is a failure of the run (R31): which query, by how many records, and what can have done it."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from streamproof.errors import AccountError
from streamproof.stream.node import Node

if TYPE_CHECKING:
    from streamproof.runtime.watching.result import QueryAccount, RunResult


def require_adds_up(result: "RunResult", roots: Mapping[str, Node]) -> None:
    """AccountError if the records of a query are not each in exactly one place, unless its account is known to be unknown.

    Parameters
    ----------
    roots
        By query what it does: the transforms in it are named, since they alone can lose and double rows.
    """
    wrong = [account for account in result.accounts if not account.adds_up and account.unknown_since is None]
    if not wrong:
        return
    called = [operator.users_code for account in wrong for operator in roots[account.query].operators if operator.users_code]
    raise AccountError(
        "\n".join(map(_said, wrong)),
        result,
        required="Each record that was read is in exactly one place of the account.",
        remedy=_remedy(dict.fromkeys(called)),
    )


def _said(account: "QueryAccount") -> str:
    off = account.wanted - account.account.total
    windows = (
        f", which count {account.wanted:,} times, once for each window or joined row that they are in" if account.expanded else ""
    )
    return (
        f"The account of {account.query} does not add up, {abs(off):,} {'missing' if off > 0 else 'too many'}: "
        f"{account.input:,} records were read{windows}, {account.account.total:,} are accounted for."
    )


def _remedy(transforms: Iterable[str]) -> str:
    functions = [f"  {name}" for name in transforms]
    causes = "a manifest that was lost, or a replay that was accepted by --accept-replay"
    if not functions:
        return f"What can have done it: {causes}. If there was neither, please report it: it is a fault of Streamproof's."
    return "\n".join(
        (
            "A transform makes one row of each, after a window too. Look whether one of these drops or doubles rows:",
            *functions,
            'Drop rows before the window by filter(condition, name="..."), which counts them; after it, mark them in a column.',
            f"Else it was {causes}.",
            "Counts go on from where the checkpoint began: a job that was mended begins with a new checkpoint and new outputs.",
        )
    )
