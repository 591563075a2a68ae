"""Small checkpoints of several versions of Spark, kept in the repository: what `states.py` has written there, for the tests that run without these versions.

    python -m versions.stored build/versions/states

packs them anew from what `make versions PARTS=inspect` has left. Checksum files of the local disk are left out, as a copy by `hadoop fs -get` leaves them out,
and the folder is called /data.
"""

import argparse
import re
import sys
import zipfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "unit" / "checkpoint" / "data" / "older"
STORED = (
    ("3.5", "windows", "hdfs"),
    ("3.5", "join", "hdfs"),
    ("3.5", "totals", "hdfs"),
    ("3.5", "sessions", "rocksdb"),
    ("3.5", "ids-for-a-while", "changelogs"),
    ("4.0", "ids-for-a-while", "ids-changelogs"),
    ("4.0", "variables-in-pandas", "changelogs"),
    ("4.0", "variables-that-end", "ids-changelogs"),
    ("4.0", "windows", "ids"),
    ("4.1", "join-3", "ids-changelogs"),
    ("4.1", "variables-in-avro", "changelogs"),
    ("4.3", "join-4", "changelogs"),
)
"""Version, kind and store of each."""
AT_MOST = 500_000
"""Bytes of all together."""
_BEGIN = (1980, 1, 1, 0, 0, 0)


def unpacked(version: str, kind: str, store: str, folder: Path) -> Path:
    """A checkpoint that was kept, unpacked below a folder."""
    made = folder / f"{version}-{kind}-{store}"
    with zipfile.ZipFile(FOLDER / f"{made.name}.zip") as archive:
        archive.extractall(made)
    return made


def _packed(checkpoint: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(checkpoint.rglob("*")):
            inside = path.relative_to(checkpoint)
            if path.is_file() and not path.name.startswith("."):
                entry = zipfile.ZipInfo(str(inside), _BEGIN)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, _without_place(path, inside))


def _without_place(path: Path, inside: Path) -> bytes:
    data = path.read_bytes()
    if inside.parts[0] != "sources" and "v2" not in inside.parts:
        return data
    text = re.sub(r"(file:/*)/[^\"]*?/(events|others|checkpoints)/", r"\1/data/\2/", data.decode())
    return text.encode()


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m versions.stored", description=__doc__)
    asked.add_argument("folder", type=Path, help="what has the checkpoints, by version")
    given = asked.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for version, kind, store in STORED:
        target = FOLDER / f"{version}-{kind}-{store}.zip"
        _packed(given.folder / version / "checkpoints" / kind / store, target)
        print(f"{target.name}  {target.stat().st_size:,} bytes")
    total = sum(path.stat().st_size for path in FOLDER.glob("*.zip"))
    print(f"{total:,} bytes of at most {AT_MOST:,}")
    return 0 if total <= AT_MOST else 1


if __name__ == "__main__":
    sys.exit(main())
