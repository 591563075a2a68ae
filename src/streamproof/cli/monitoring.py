"""`streamproof monitoring DIR`: write the alerts for Prometheus, the dashboard for Grafana and the runbook.

And `run --metrics` and `run --otel`, which show and send what they are about.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from datetime import timedelta

    from streamproof.config import JobConfig
    from streamproof.observe.health import Health
    from streamproof.runtime.watching.events import Listener

EXAMPLES = """\b
Examples:
  streamproof monitoring monitoring        write alerts, dashboard and runbook to the folder monitoring
  streamproof run my_job --metrics 9464    what they are about
"""


def monitoring(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write to; what an earlier call has written is replaced.")
    ] = Path("monitoring"),
) -> None:
    """Write alert rules for Prometheus, a dashboard for Grafana, and a page that says of each what to do: made of the metrics that `run --metrics` shows."""
    from streamproof.observe import dashboard, rules, runbook

    made = {rules.FILE: rules.alert_rules(), dashboard.FILE: dashboard.dashboard(), runbook.FILE: runbook.runbook()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text)
    except OSError as problem:
        raise ConfigurationError(
            f"Nothing can be written to {folder}: {(problem.strerror or str(problem)).lower()}.",
            required="A folder that may be written to.",
            remedy="Name another one: streamproof monitoring DIR.",
        ) from problem
    out = screen.console()
    out.print(f"{folder / rules.FILE}      for prometheus.yml: rule_files: [{rules.FILE}]")
    out.print(f"{folder / dashboard.FILE}   import it into Grafana")
    out.print(f"{folder / runbook.FILE}     what each alert means, and what to do")


@contextmanager
def watched(config: "JobConfig", address: str | None, hang_after: "timedelta | None") -> "Iterator[list[Listener]]":
    """Shows the metrics and the health of a run at an address, where one is given, as long as it lasts, and tells the service manager, where one has
    started it; gives the listeners that this takes.
    """
    from streamproof.observe import service_manager

    if address is None and not service_manager.is_wanted():
        if hang_after is not None:
            raise ConfigurationError(
                "--hang-after was given, and nobody would be told of a hang.",
                required="It says when /health and the watchdog of systemd call the run hung.",
                remedy="Give --metrics 9464 too, whose /health says it, or start the run by a unit of systemd with Type=notify.",
            )
        yield []
        return
    from streamproof.observe.health import Health

    health = Health(hang_after=hang_after, trigger=config.trigger.interval)
    with service_manager.ServiceManager(health), _shown(config.name, address, health) as listeners:
        yield [health, *listeners]


@contextmanager
def _shown(job: str, address: str | None, health: "Health") -> "Iterator[list[Listener]]":
    if address is None:
        yield []
        return
    from streamproof.observe import addresses
    from streamproof.observe.endpoint import Endpoint
    from streamproof.observe.values import Values

    values = Values()
    with Endpoint(job, address, values, checked=health, patience=addresses.FOR_A_DRIVER_THAT_ENDS) as endpoint:
        screen.print_note(f"Metrics of this run: {endpoint.url}")
        yield [values]


def catalogue_of(config: "JobConfig", named: str | None) -> str | None:
    """The catalogue that is told of a job: what the command line names, else its configuration; a file there lies beside it."""
    if named is not None or config.openlineage is None:
        return named
    to = config.openlineage.to
    return f"file:{config.resolve(to.removeprefix('file:'))}" if to.startswith("file:") and "//" not in to else to


@contextmanager
def told(job: str, target: str | None) -> "Iterator[list[Listener]]":
    """Tells a catalogue of the queries of a run by OpenLineage, where a target is given; gives the listeners that this takes."""
    if target is None:
        yield []
        return
    from streamproof.observe.openlineage.sending import OpenLineage

    with OpenLineage(job, target, screen.print_note) as telling:
        yield [telling]


def duration_of(text: str | None) -> "timedelta | None":
    """What --hang-after says; typer's error for what is no duration, or none that anything can be held against."""
    if text is None:
        return None
    from streamproof.core.durations import parse_duration

    try:
        found = parse_duration(text)
    except ValueError as problem:
        raise typer.BadParameter(f"{problem}.", param_hint="--hang-after") from None
    if not found:
        raise typer.BadParameter('it is 0; give a duration such as "10 minutes".', param_hint="--hang-after")
    return found


@contextmanager
def sent(job: str, *, wanted: bool) -> "Iterator[list[Listener]]":
    """Sends the metrics and traces of a run to a collector, where that is wanted, as long as it lasts; gives the listeners that this takes."""
    if not wanted:
        yield []
        return
    from streamproof.observe.otel.sending import OpenTelemetry, collector

    with OpenTelemetry(job, screen.print_note) as sending:
        screen.print_note(f"Metrics and traces of this run go to {collector()}")
        yield [sending]
