"""Makes the checkpoint beside this file, by the release of Streamproof that is on the path; README.md says how it is called.

The folder of the job stands in Spark's source log and in the manifests. It is written down as `HOME`; who copies the data puts the folder of
the copy there, and the hash of the fingerprint that follows from it into the ledgers (`put_down`).
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
HOME = "/@HOME@"
PARTS = ("data", "checkpoint", "out")
START = 1_767_603_600_000
"""2026-01-05T09:00:00Z, in milliseconds."""


def event(identity: str, at: int, v: float = 1.0, client: str = "a") -> dict[str, object]:
    return {"id": identity, "client": client, "v": v, "ts": START + at * 1000}


FILES = (
    [event("e1", 1), event("e2", 41, 2.0, "b"), event("bad1", 2, -1.0), event("e1", 1)],
    [event("e3", 40, 3.0), event("e2", 41, 2.0, "b"), event("e4", 70, 4.0, "b")],
    [event("e5", 100, 5.0), event("e6", 3), event("bad2", 100, -1.0)],
)
"""In batch 0 a rejected record and a duplicate; in batch 1 a duplicate of batch 0; in batch 2 a late record and a rejected one. A batch without
input closes the windows before the last event.
"""


def feed(folder: Path, number: int, rows: list[dict[str, object]]) -> None:
    """Writes the input file of a batch."""
    path = folder / f"data/{number:03d}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    os.utime(path, (1_700_000_000 + number,) * 2)


def put_down(folder: Path) -> None:
    """Copies the data to a folder, as if the job had run there."""
    for name in ("job.py", "streamproof.toml"):
        shutil.copy(HERE / name, folder / name)
    for part in PARTS:
        shutil.copytree(HERE / part, folder / part)
    fingerprints = {}
    for path in _texts(folder):
        path.write_text(path.read_text().replace(HOME, str(folder)))
        if path.parent.name == "manifests":
            fingerprint = json.dumps(json.loads(path.read_text())["fingerprint"], sort_keys=True)
            fingerprints[int(path.name)] = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
    for path in folder.glob("out/*/batch=*/_ledger.json"):
        entry = json.loads(path.read_text())
        path.write_text(json.dumps({**entry, "fingerprint": fingerprints[entry["batch"]]}, indent=1))


def _texts(folder: Path) -> list[Path]:
    """The files that hold paths."""
    return [*folder.glob("checkpoint/*/sources/*/*"), *folder.glob("checkpoint/*/_streamproof/manifests/*")]


def main() -> None:
    import streamproof

    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary).resolve()
        for name in ("job.py", "streamproof.toml"):
            shutil.copy(HERE / name, home / name)
        for number, rows in enumerate(FILES, 1):
            feed(home, number, rows)
        streamproof.run(home)
        for part in PARTS:
            shutil.rmtree(HERE / part, ignore_errors=True)
            # Hadoop's checksums of texts would not fit any more, once a path in them has changed.
            shutil.copytree(home / part, HERE / part, ignore=shutil.ignore_patterns(".*.crc", "_staging"))
        for path in _texts(HERE):
            path.write_text(path.read_text().replace(str(home), HOME))
    sys.stdout.write(f"made by Streamproof {streamproof.__version__}\n")


if __name__ == "__main__":
    main()
