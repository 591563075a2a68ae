"""Files in which Spark writes where it lies, by its whole path: on another disk they must name that one."""

import re
from pathlib import Path

_NAMES_ITS_PLACE = re.compile(r"(?:^|/)(?:state/\d+/_metadata/v2/\d+|_spark_metadata/\d+(?:\.compact)?)$")
_RECORDED = re.compile(rb"sp-record://[^/\"\\]+(?=/)")
_LARGEST = 1 << 20


def rebased(path: str, content: bytes, old: Path, new: Path) -> bytes:
    """The content of a file that was recorded below the folder `old`, as it reads below `new` on a local disk."""
    if _NAMES_ITS_PLACE.search(path) is None:
        return content
    return _RECORDED.sub(b"file:", content).replace(f"file:{old}/".encode(), f"file:{new}/".encode())


def rebase(folder: Path) -> None:
    """The same for the files of a run that was crashed while it was recorded, and goes on there without a recording."""
    for path in folder.rglob("*"):
        inside = str(path.relative_to(folder))
        if _NAMES_ITS_PLACE.search(inside) and path.is_file() and path.stat().st_size < _LARGEST:
            content = path.read_bytes()
            other = rebased(inside, content, folder, folder)
            if other != content:
                path.write_bytes(other)
