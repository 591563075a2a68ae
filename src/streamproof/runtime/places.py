"""Where outputs lie as seen from their checkpoint: the same where a folder is moved or copied as a whole, another where one is not."""

from posixpath import join, normpath, relpath


def seen_from(checkpoint: str, path: str) -> str:
    """The path relative to the checkpoint; as it is where the two are in different stores."""
    here, inside = _split(checkpoint)
    there, below = _split(path)
    return relpath(below, inside) if here == there else path


def resolved(checkpoint: str, seen: str) -> str:
    """The path that `seen_from` was given."""
    if "://" in seen or seen.startswith("/"):
        return seen
    store, inside = _split(checkpoint)
    return f"{store}{normpath(join(inside, seen))}"


def below_store(path: str) -> str:
    """The path without the store that it is in: "/data/1.json" of "hdfs://name:8020/data/1.json" and of "file:///data/1.json"."""
    _, inside = _split(path)
    return f"/{inside.removeprefix('file:').lstrip('/')}"


def _split(path: str) -> tuple[str, str]:
    """The store ("s3a://bucket", or nothing for a plain path), and the path in it."""
    scheme, separator, rest = path.partition("://")
    if not separator:
        return "", path
    authority, _, inside = rest.partition("/")
    return f"{scheme}://{authority}", f"/{inside}"
