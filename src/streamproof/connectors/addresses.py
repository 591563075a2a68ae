"""URLs of services: what may be shown of them. What is not a whole URL is refused, and never shown: any part of it may be a password's."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from streamproof.errors import ConfigurationError

_REMEDY = 'In user and password write "@" as %40, ":" as %3A, "/" as %2F, "?" as %3F and "#" as %23; "@" in a path as %40 too.'


@dataclass(frozen=True)
class Address:
    """Scheme, host, port and path of a URL: all that may be shown."""

    scheme: str
    host: str
    port: int | None
    path: str


def address_of(url: str, of: str, schemes: Sequence[str], example: str) -> Address:
    """What may be shown of a URL; `of` is who it is for, as in "redis".

    Raises
    ------
    ConfigurationError
        If it is not a whole one. Its text is not in the error.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # its words quote what is no port, which may be a password's end
        raise _unreadable(of, example) from None
    # An "@" after the server, or a fragment, is the rest of a password that began with "/", "?" or "#".
    if parts.scheme not in schemes or not host or parts.fragment or "@" in parts.path or "@" in parts.query:
        raise _unreadable(of, example)
    return Address(parts.scheme, f"[{host}]" if ":" in host else host, port, parts.path)


def _unreadable(of: str, example: str) -> ConfigurationError:
    return ConfigurationError(f"A url of {of} cannot be read.", required=f'It is written "{example}".', remedy=_REMEDY)
