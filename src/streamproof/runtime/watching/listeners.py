"""Who hears the events of a run, as a caller names them: a function, or several."""

from collections.abc import Iterable

from streamproof.errors import ConfigurationError
from streamproof.runtime.watching.events import Listener


def listeners_in(given: Listener | Iterable[Listener] | None) -> tuple[Listener, ...]:
    """The listeners that somebody has given: none, one, or several.

    Raises
    ------
    ConfigurationError
        If something among them cannot be called.
    """
    if given is None:
        return ()
    if callable(given):
        return (given,)
    found = tuple(given) if isinstance(given, Iterable) else (given,)
    for place, each in enumerate(found, start=1):
        if not callable(each):
            which = f"Listener {place} of {len(found)}" if isinstance(given, Iterable) else "The listener"
            raise ConfigurationError(
                f"{which} of this run is {each!r}, which cannot be called.",
                required="A listener is a function with one parameter, the event; listener= takes one or a list.",
                remedy="Give the function itself, without calling it.",
            )
    return found
