"""Running a job from Python: `sp.run("my_job")`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamproof.runtime.watching.events import Listener
    from streamproof.runtime.watching.result import RunResult


def run(
    target: str | Path,
    *,
    profile: str | None = None,
    new_output: str | None = None,
    replace_output: bool = False,
    accept_replay: int | None = None,
    accept_topics: Sequence[str] = (),
    accept_lateness: bool = False,
    accept_missing: bool = False,
    replay_last: bool = False,
    latency: bool = False,
    listener: "Listener | Iterable[Listener] | None" = None,
) -> "RunResult":
    """Run a job on what its sources hold, and return what went where.

    Parameters
    ----------
    target
        A folder with `streamproof.toml`, that file, or `file.py[:function]`.
    profile
        The `[profile.NAME]` to lay over the file.
    new_output, replace_output
        The two ways out when the outputs belong to another checkpoint: publish to another path, or delete what is there.
    accept_replay
        The number of a batch whose published rows stand although its replay computed others; its account is then unknown.
    accept_topics
        Topics that stand in for those that the checkpoint has read, with the same records at the same offsets.
    accept_lateness
        Whether a checkpoint goes on under another delay or allowed lateness: old state stays what it is.
    accept_missing
        Whether the job goes on without published batches that are gone.
    replay_last
        Whether the newest batch is done again from its recorded input.
    latency
        Whether the batches say how old their records were when readers got them: `event.latency` of a `batch-committed`.
    listener
        A function that is called with each event of the run, as it happens, or several: `event.kind` is its name, `event.as_dict()` has its
        fields (docs/reference/events.md). The batch waits while it runs. If one raises, the job goes on, the others hear the event all the
        same, and a note says so.

    Raises
    ------
    AccountError
        If the job ran to its end and its account does not add up; `result` of the error is what would have been returned.
    StreamproofError
        If the configuration, the data, the checkpoint or a sink is not as it must be.
    """
    from streamproof.config import load
    from streamproof.runtime.run import run_job
    from streamproof.runtime.spark.run_log import values_left_out

    config = load(target, profile=profile)
    with values_left_out():
        return run_job(
            config,
            new_output=new_output,
            replace_output=replace_output,
            accept_replay=accept_replay,
            accept_topics=accept_topics,
            accept_lateness=accept_lateness,
            accept_missing=accept_missing,
            replay_last=replay_last,
            latency=latency,
            listener=listener,
        )
