"""The places of outputs relative to their checkpoint. They stay the same when checkpoint and outputs move together."""

import re
from posixpath import join, normpath, relpath
from urllib.parse import unquote

_STORE = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<authority>[^/]*))?(?=/|$)")
_WILDCARD = re.compile(r"[*?\[{]")


def seen_from(checkpoint: str, path: str) -> str:
    """The path relative to the checkpoint; as it is where the two are in different stores."""
    here, inside = _split(checkpoint)
    there, below = _split(path)
    return relpath(below, inside) if here == there else path


def resolved(checkpoint: str, seen: str) -> str:
    """The path that `seen_from` was given."""
    if _STORE.match(seen) or seen.startswith("/"):
        return seen
    store, inside = _split(checkpoint)
    return f"{store}{normpath(join(inside, seen))}"


def is_below(uri: str, folder: str) -> bool:
    """Whether a file, given by its URI, lies in a folder or is matched by its glob pattern, as far as that begins without wildcards.

    Stores are left aside: the same file has a URI with the default store in it, and a configured path without.
    """
    path, wanted = normpath(unquote(_split(uri)[1])), normpath(_split(folder)[1])
    literal = _WILDCARD.split(wanted, maxsplit=1)[0]
    return path.startswith(literal if literal != wanted else f"{wanted.rstrip('/')}/") or path == wanted


def _split(path: str) -> tuple[str, str]:
    """The store ("s3a://bucket", or nothing for the local disk), and the path in it."""
    found = _STORE.match(path)
    if found is None:
        return "", path
    inside = f"/{path[found.end() :].lstrip('/')}"
    return ("" if found["scheme"] == "file" else f"{found['scheme']}://{found['authority'] or ''}"), inside
