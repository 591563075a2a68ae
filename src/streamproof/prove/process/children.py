"""The processes that run the job for a scenario: what each is told, and one of them on the warm JVM."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace

from streamproof.prove.context import ProofContext
from streamproof.prove.process.child import ChildResult, ChildTask
from streamproof.prove.process.zygote import Zygote
from streamproof.prove.record.recording import Recording
from streamproof.prove.subjects.job.binding import Setting

STEPS = "steps-in-services"
_PATIENCE_SECONDS, _RECORDINGS = 300.0, 30.0


def patience(recording: Recording) -> float:
    """How many seconds a run of the job may take: five minutes, or thirty times what the recording took, whichever is more."""
    return max(_PATIENCE_SECONDS, _RECORDINGS * recording.seconds)


class Children:
    """Starts them."""

    def __init__(self, context: ProofContext, zygote: Zygote, allowed_hosts: Sequence[str] = ()) -> None:
        self._world, self._zygote, self._hosts = context, zygote, tuple(allowed_hosts)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables of every one."""
        return self._zygote.environment

    def start(
        self,
        identity: str,
        setting: Setting,
        *,
        recording: Recording | None = None,
        settings: Mapping[str, str] | None = None,
        trace: bool = True,
        replay_last: bool = False,
        read_state: bool = True,
        crash_at: str = "",
        desk: str = "",
        struck: bool = False,
        count_tasks: bool = False,
    ) -> "Future[ChildResult]":
        gateway = self._world.engine.gateway()
        setting.folder.mkdir(parents=True, exist_ok=True)
        task = self.task(identity, setting, recording)
        task = replace(
            task,
            port=gateway.port,
            secret=gateway.secret,
            trace=trace,
            replay_last=replay_last,
            read_state=read_state,
            crash_at=crash_at,
            desk=desk,
            count_tasks=count_tasks,
            settings={**task.settings, **(settings or {})},
        )
        seconds = None if recording is None else patience(recording) * (2 if struck else 1)
        future = self._zygote.submit(task, seconds)
        future.add_done_callback(lambda _: gateway.close())
        return future

    def task(self, identity: str, setting: Setting, recording: Recording | None) -> ChildTask:
        config = self._world.config
        results = self._world.folder / "children"
        results.mkdir(exist_ok=True)
        return ChildTask(
            id=identity,
            target=str(config.file),
            entry=config.entry,
            profile=config.profile,
            base=setting.base,
            folder=str(setting.folder),
            data=setting.data,
            files_per_batch=setting.files_per_batch,
            records_per_batch=setting.records_per_batch,
            urls=setting.urls,
            environment=setting.environment,
            steps=str(setting.folder / STEPS) if setting.urls else "",
            port=0,
            secret="",
            result=str(results / f"{identity}.json"),
            operators=recording.operators if recording else None,
            settings=dict(recording.settings) if recording else {},
            allowed_hosts=self._hosts,
        )
