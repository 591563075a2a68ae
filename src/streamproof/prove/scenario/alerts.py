"""[alerts] of a scenario file: which alerts of a run its scenarios must raise."""

from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Self

from pydantic import Field, PlainValidator, model_validator

from streamproof.config.fields import Duration
from streamproof.config.problems import nearest
from streamproof.config.secret import shown
from streamproof.core.durations import format_duration
from streamproof.prove.scenario.fields import Table, wrong

_SHORTEST = timedelta(milliseconds=20)


def _alerts(value: object) -> tuple[str, ...]:
    from streamproof.observe.metrics import ALERTS  # when it is needed: most scenarios have none

    known = [alert.name for _, alert in ALERTS]
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise wrong(f"is {shown(value)}", 'It must be a list of alerts, such as ["StreamproofOutputWaits"].')
    for name in value:
        if name not in known:
            near = nearest(name, known)
            meant = f' (did you mean "{near}"?)' if near else ""
            raise wrong(f'names "{name}", which is no alert{meant}', f"The alerts are {', '.join(known)}.")
    return tuple(value)


AlertNames = Annotated[tuple[str, ...], PlainValidator(_alerts)]


class Alerts(Table):
    """Which alerts of a run the scenarios of a proof must raise, and no others.

    Parameters
    ----------
    minute
        How long a minute of the alerts' rules lasts here: a proof has seconds for what they wait minutes for.
    without_fault
        What the events themselves raise: must be raised in the run without a fault, and may be in every other.
    under
        By the name of a fault, or a pattern of such names, what must be raised beside it; the first that fits. Where none fits, nothing is asked.
    """

    minute: Duration = timedelta(seconds=1)
    without_fault: AlertNames = ()
    under: dict[str, AlertNames] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _short(self) -> Self:
        if not _SHORTEST <= self.minute <= timedelta(minutes=1):
            raise wrong(f'has minute = "{format_duration(self.minute)}"', 'It lies between "20 milliseconds" and "1 minute".')
        return self

    def asked_under(self, fault: str) -> tuple[str, ...] | None:
        """The alerts that a fault must raise; None where nothing is asked of it."""
        return next((names for pattern, names in self.under.items() if fnmatchcase(fault, pattern)), None)
