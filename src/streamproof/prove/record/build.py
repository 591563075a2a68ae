"""Makes a crash image on the disk: copies its blobs, hashing what it copies, and proves that it is what the journal said."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from streamproof.errors import StreamproofError
from streamproof.prove.record.images import Image
from streamproof.prove.record.paths import Layout
from streamproof.prove.record.rebase import rebased
from streamproof.prove.record.tree import EMPTY, File


class BlobChanged(StreamproofError):
    """A recorded content is no longer what it was: an image built from it would prove nothing (R16)."""

    code = "blob-changed"


@dataclass(frozen=True)
class Built:
    """An image on the disk, ready for recovery.

    `hashes` is what lies on the disk, path to SHA-256. One thing is not as recorded: the id in each query's `metadata`, since Spark
    refuses two queries with one id in one JVM.
    """

    image: Image
    folder: Path
    hashes: dict[str, str]

    def fired(self) -> bool:
        """True if the folder still holds exactly the image; ask when recovery starts."""
        present = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}
        return present == set(self.hashes) and all(_sha256(self.folder / path) == sha for path, sha in self.hashes.items())


def build(image: Image, folder: Path, blobs: Path, layout: Layout, recorded: Path | None = None) -> Built:
    """Makes the image in `folder`, which must be empty or absent; whole files get their recorded modification time.

    `recorded` is the folder that the recorded run lay in: files in which Spark names it name this one instead.

    Raises
    ------
    BlobChanged
        If a blob is missing or does not have the hash that it is named by.
    StreamproofError
        If the folder holds something.
    """
    if folder.exists() and any(folder.iterdir()):
        raise StreamproofError(f"{folder} is not empty.", required="A crash image is the whole disk, so it needs an empty folder.")
    folder.mkdir(parents=True, exist_ok=True)
    metadata = {f"{checkpoint.strip('/')}/metadata": query for query, checkpoint in layout.checkpoints.items()}
    hashes: dict[str, str] = {}
    for path, file in image.files.items():
        content = _content(blobs, file)
        if path in metadata:
            content = _with_own_id(content, image, folder, metadata[path])
        if recorded is not None:
            content = rebased(path, content, recorded, folder)
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        if file.modified_ms is not None:
            os.utime(target, ns=(file.modified_ms * 1_000_000,) * 2)
        hashes[path] = hashlib.sha256(content).hexdigest()
    return Built(image=image, folder=folder, hashes=hashes)


def _content(blobs: Path, file: File) -> bytes:
    if file.sha256 == EMPTY:
        return b""
    blob = blobs / file.sha256
    try:
        content = blob.read_bytes()
    except FileNotFoundError:
        raise BlobChanged(f"The recorded content {blob} is gone.", remedy="Record again: streamproof prove does.") from None
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise BlobChanged(
            f"The recorded content {blob} has been changed.",
            required="Blobs are read-only copies; nothing may write to them.",
            remedy="Record again: streamproof prove does.",
        )
    return content if file.length is None else content[: file.length]


def _with_own_id(content: bytes, image: Image, folder: Path, query: str) -> bytes:
    """Spark's metadata file with an id of this image's own; as it is where the crash left it empty or cut short."""
    try:
        found = json.loads(content)
    except ValueError:
        return content
    if not isinstance(found, dict) or "id" not in found:
        return content
    own = hashlib.sha256(f"{image.id}\0{query}\0{folder}".encode()).hexdigest()
    found["id"] = f"{own[:8]}-{own[8:12]}-{own[12:16]}-{own[16:20]}-{own[20:32]}"
    return json.dumps(found, separators=(",", ":")).encode()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
