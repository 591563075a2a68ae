"""A table that is read once: it is as old as the job's start."""

from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    for name in dict.fromkeys(table for query in patient.steps for table in query.tables):
        table = patient.bound.table.get(name)
        if table is not None and table.refresh is None:
            ever = patient.bound.trigger.interval is not None
            until = (
                "until it is started again"
                if ever
                else "in each run: a run that works through much takes it as it was at its start"
            )
            yield Symptom(
                Severity.WARN if ever else Severity.NOTE,
                f"The table {name} is read when the job starts, and stays so {until}.",
                patient.key("table", name),
                f'Say how old it may be: refresh = "10 minutes" in [table.{name}]; "0 seconds" reads it before every batch.',
                f"[table.{name}] has no key refresh, and the trigger is {patient.bound.trigger}",
            )


STALE_TABLE = Mistake(
    Code.STALE_TABLE,
    "a table or rules read once",
    "Whoever changes the table sees no effect, for days, and after a restart all at once.",
    (Way((Part.CONFIGURATION, Part.STEPS), _by_configuration),),
)
