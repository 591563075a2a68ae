"""Time zones by name, as windows ask for them."""

from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from streamproof.errors import JobDefinitionError


def require_zone(call: str, zone: Any) -> None:
    """JobDefinitionError for what is no name of a time zone; `call` is how the error names where it stands."""
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError) as problem:
        import difflib

        near = difflib.get_close_matches(str(zone), available_timezones(), n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise JobDefinitionError(
            f"{call}: no such time zone.{hint}",
            required='A zone is a name of the IANA database, such as "Europe/Berlin"; an abbreviation such as "CET" has no daylight saving rule of a place.',
        ) from problem
