"""Checksums whose file is gone. A start removes them: a crash can leave some, and a disk that is full of them has no inodes left."""

import os
from pathlib import Path

from streamproof.core.paths import path_of

_CHECKSUM = ".crc"


def remove_left_checksums(checkpoint: str) -> int:
    """Removes the checksums below the state of a query that has not started yet, where their file is gone; how many there were.

    Of Hadoop's file systems the local one alone has them: nothing is done where the checkpoint lies elsewhere.
    """
    root = Path(path_of(checkpoint))
    removed = 0
    if root.is_absolute():
        for folder, _, names in os.walk(root / "state"):
            there = set(names)
            for name in names:
                if name.startswith(".") and name.endswith(_CHECKSUM) and name[1 : -len(_CHECKSUM)] not in there:
                    Path(folder, name).unlink(missing_ok=True)
                    removed += 1
    return removed
