"""Are the published rows of two runs the same, leaving aside the hidden columns of proofs?"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.prove.checkers import Finding
from streamproof.prove.row_files import rows_of
from streamproof.prove.setting import OUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamproof.prove.history import History

_HIDDEN = ("_trace", "_records", "_trace_hash", "original", "original_base64")
_DIGITS = 9


def row_differences(one: Path, other: Path) -> Iterator[Finding]:
    """What differs between the outputs of two scenario folders, with trace ids and without, an output a finding.

    Rows are compared as multisets; floats to nine digits, since the order of addition is not fixed. The original bytes of rejected rows
    hold the trace id and are left aside.
    """
    for name in sorted({path.name for folder in (one, other) for path in (folder / OUT).glob("*")}):
        mine, theirs = Counter(_rows(one / OUT / name)), Counter(_rows(other / OUT / name))
        if mine == theirs:
            continue
        only, missing = mine - theirs, theirs - mine
        example = dict(next(iter(only or missing)))
        yield Finding(
            None,
            f"a run without trace ids, as the job is shipped, has other rows in {name} than the one that is proved",
            None,
            "the same rows",
            f"{only.total():,} rows only with trace ids, {missing.total():,} only without",
            f"such as {example}; a job must not depend on the column _trace, on random numbers, or on the hour",
        )


def rows_digest(history: "History") -> str:
    """A hash of every published row, whatever their order; floats to nine digits."""
    lines = sorted(
        repr((output.name, _visible(row.values)))
        for view in history.queries
        for output in view.left.outputs.values()
        for row in output.rows
    )
    return hashlib.sha256("\n".join(lines).encode(errors="surrogatepass")).hexdigest()


def _rows(folder: Path) -> Iterator[tuple[tuple[str, Any], ...]]:
    for path in sorted(folder.glob("batch=*/*")):
        if path.name.startswith(("_", ".")):
            continue
        rows = rows_of(path)
        for row in rows:
            yield _visible(row)


def _visible(row: "Mapping[str, Any]") -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((name, _plain(value)) for name, value in row.items() if name not in _HIDDEN))


def _plain(value: Any) -> Any:
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)
