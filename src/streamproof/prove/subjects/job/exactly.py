"""A job's scenario whose events are written out one by one."""

from streamproof.config import JobConfig
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.exactly import Exactly
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.sources import proved


def require_takes(config: JobConfig, given: Exactly) -> None:
    """ScenarioError if the events are of other sources than the job's, or one of its sources cannot have them one by one."""
    if set(given.of_source) != set(config.source):
        raise ScenarioError(
            f"Events are written out for {', '.join(given.of_source)}, and the job reads {', '.join(config.source)}.",
            required="Events for each source of the job, for some none: [].",
        )
    for name, source in config.source.items():
        if not proved(name, source).takes_exactly:
            raise ScenarioError(
                f"{config.where('source', name, 'connector')}: the events of {name} cannot be written out one by one.",
                required="Sources that read files can have such events.",
                remedy="Give the job a profile with that source on files: streamproof prove --profile",
            )


def with_exactly(scenario: Scenario, given: Exactly) -> Scenario:
    """The scenario with so many events and batches. Shares of all events say nothing of a few: they are not asked of these."""
    shares = dict.fromkeys(("late_at_most", "rejected_at_most", "open_at_most"))
    files = 1 + max(event.partition for events in given.of_source.values() for event in events)
    return scenario.model_copy(
        update={
            "events": given.events,
            "batches": given.batches,
            "files_per_batch": max(files, scenario.files_per_batch),
            "edges": False,
            "expect": scenario.expect.model_copy(update=shares),
        }
    )
