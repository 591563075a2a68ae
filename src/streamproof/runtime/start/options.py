"""How a query is started."""

from dataclasses import dataclass, field

from streamproof.connectors.steps import UNWATCHED, Steps
from streamproof.runtime.watching.events import Emitter


@dataclass(frozen=True)
class Start:
    """How a query is started: with the hidden trace column of proofs, and what of a contradiction somebody has accepted.

    Parameters
    ----------
    accept_replay, accept_topics, accept_lateness, accept_missing, replay_last
        As in `run_job`.
    latency
        Whether batches say how old their records are when readers get them.
    lineage
        Whether queries say what they read and write, column by column (`QueryPlanned`).
    steps
        Told of what becomes durable in services.
    emitter
        Given the events of the query.
    one_batch
        Whether the query ends after the batch that is planned and not committed.
    """

    trace: bool = False
    accept_replay: int | None = None
    accept_topics: tuple[str, ...] = ()
    accept_lateness: bool = False
    accept_missing: bool = False
    replay_last: bool = False
    latency: bool = False
    lineage: bool = False
    steps: Steps = UNWATCHED
    emitter: Emitter = field(default_factory=Emitter)
    one_batch: bool = False
