"""Where outputs lie as seen from their checkpoint: the same where a folder is moved or copied as a whole, another where one is not."""

from posixpath import join, normpath, relpath
from urllib.parse import urlsplit


def seen_from(checkpoint: str, path: str) -> str:
    """The path relative to the checkpoint; as it is where the two are in different stores."""
    here, inside = _split(checkpoint)
    there, below = _split(path)
    return relpath(below, inside) if here == there else path


def resolved(checkpoint: str, seen: str) -> str:
    """The path that `seen_from` was given."""
    if urlsplit(seen).scheme or seen.startswith("/"):
        return seen
    store, inside = _split(checkpoint)
    return f"{store}{normpath(join(inside, seen))}"


def below_store(path: str) -> str:
    """The path without the store that it is in: "/data/1.json" of "hdfs://name:8020/data/1.json" and of "file:///data/1.json"."""
    return _split(path)[1]


def _split(path: str) -> tuple[str, str]:
    """The store ("s3a://bucket", or nothing for the local disk), and the path in it."""
    found = urlsplit(path)
    if found.scheme in ("", "file"):
        return "", f"/{path.removeprefix('file:').lstrip('/')}"
    return f"{found.scheme}://{found.netloc}", found.path
