"""A batch uses one version of a table that rows are looked up in, fixed before its work: what the table held then (R32)."""

from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History
from streamproof.prove.checkers import Finding, checker


class Code(StrEnum):
    """What is found here."""

    NOT_FIXED = "not-fixed"
    FIXED_OTHERWISE = "fixed-otherwise"
    NO_SUCH_STATE = "no-such-state"
    OTHER_STATE = "other-state"


@checker("table-versions")
def table_versions(history: History) -> Iterator[Finding]:
    """Hold the version of every batch against what was fixed for it, and its kept rows against what the table held."""
    for view in history.queries:
        for used in view.used:
            name, version = f"the table {used.table} of {view.name}", used.version
            if not version:
                if not history.power_failure:
                    yield Finding(Code.NOT_FIXED, None, f"nothing says which version of {name} a batch has used", used.batch)
                continue
            if used.fixed and used.fixed != version:
                what = f"a batch has used another version of {name} than was fixed for it"
                yield Finding(Code.FIXED_OTHERWISE, None, what, used.batch, used.fixed, version)
            if used.number is None:
                what = f"the kept rows of a version of {name} are gone, or are none that the table ever held"
                yield Finding(Code.NO_SUCH_STATE, None, what, used.batch, found=version)
            elif not used.earliest <= used.number <= used.latest:
                what = f"a batch has used what {name} held at another time"
                wanted = f"state {used.earliest}" + (f" to {used.latest}" if used.latest != used.earliest else "")
                yield Finding(Code.OTHER_STATE, None, what, used.batch, wanted, f"state {used.number}")
