"""Making staged rows visible, output by output: one that is down neither stops nor doubles the others (R8)."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from streamproof.connectors.sink import Sink
from streamproof.core.clock import monotonic_seconds
from streamproof.core.manifest import Manifest, Section
from streamproof.errors import CheckpointError, SinkError, SinkUnavailable
from streamproof.runtime.manifests import ManifestStore

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 5.0


@dataclass
class Publisher:
    """Publishes the batches of one query, in order, and remembers which wait for an output that is down.

    Parameters
    ----------
    admit
        Looks, before the first publication to an output, whether it is ours and takes our rows; SinkUnavailable where it cannot.
    limits
        How many batches may wait for an output, by its name.
    notes
        Told what is worth reading at the end of a run.
    """

    manifests: ManifestStore
    sinks: Mapping[str, Sink]
    admit: Callable[[str], None]
    limits: Mapping[str, int]
    notes: list[str]
    waiting: dict[str, list[int]] = field(default_factory=dict)
    reasons: dict[str, SinkUnavailable] = field(default_factory=dict)
    _admitted: set[str] = field(default_factory=set)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def look_back(self, committed: Sequence[int]) -> None:
        """Finds what earlier runs have left waiting: of each output that may lag, from the newest batch to one that is published.

        What is staged of published batches goes.

        Raises
        ------
        CheckpointError
            If the manifest of a batch that may wait is torn or missing.
        """
        for output, sink in self.sinks.items():
            if not sink.may_lag:
                continue
            left: list[int] = []
            try:
                for number in reversed(committed):
                    manifest = self._manifest(number)
                    section = manifest.section(output) if manifest is not None else None
                    if manifest is None and self._has_staged(number, output) and sink.published(number) is None:
                        raise _lost(self.manifests.path(number), output)
                    if manifest is None or section is None or not section.digest.rows:
                        continue
                    if sink.complete(manifest, section):
                        break
                    left.append(number)
            except SinkUnavailable as problem:
                left = [number for number in reversed(committed) if self._is_staged(number, output)]
                self._is_down(output, problem)
            self.waiting[output] = left[::-1]
        for number in committed[-2:]:
            self.drop_published(number)

    def begin(self) -> None:
        """Looks at every output that may lag, and publishes what waits for it.

        Raises
        ------
        SinkError, OutputInUse
            If an output is not ours, or does not take our rows. One that is down is looked at when it answers.
        """
        for output, sink in self.sinks.items():
            if sink.may_lag:
                try:
                    self._admit(output)
                except SinkUnavailable as problem:
                    self._is_down(output, problem)
        self.catch_up()

    def publish(self, manifest: Manifest) -> None:
        """Publishes a batch; an output that is down gets it later.

        Raises
        ------
        SinkError
            If a store refuses the rows, or more batches wait for one that is down than it is allowed.
        """
        with self._lock:
            self.catch_up()
            for section in manifest.sections:
                if section.digest.rows:
                    self._publish_or_wait(manifest, section)

    def catch_up(self) -> None:
        """Publishes what waits, in order, as far as the stores answer."""
        with self._lock:
            for output, batches in self.waiting.items():
                while batches:
                    manifest = self._manifest(batches[0])
                    section = manifest.section(output) if manifest is not None else None
                    if manifest is None or section is None:
                        raise _lost(self.manifests.path(batches[0]), output)
                    try:
                        self._publish(manifest, section)
                        self.sinks[output].abort(section.directory)
                    except SinkUnavailable as problem:
                        self._is_down(output, problem)
                        break
                    del batches[0]
                    self.reasons.pop(output, None)

    def finish(self, patience_seconds: float) -> None:
        """Waits for stores that are down, at the end of a run.

        Raises
        ------
        SinkUnavailable
            If batches still wait when the patience is at its end; the next run publishes them.
        """
        end, pause = monotonic_seconds() + patience_seconds, _FIRST_PAUSE_SECONDS
        while True:
            self.catch_up()
            behind = {output: len(batches) for output, batches in self.waiting.items() if batches}
            if not behind:
                return
            if monotonic_seconds() >= end:
                output, count = next(iter(behind.items()))
                why = self.reasons[output]
                raise SinkUnavailable(
                    f"{count} batch{'es' if count > 1 else ''} of {output} wait: {why.message}",
                    required="Nothing is lost: the rows are staged, their manifests name them.",
                    remedy="Run the job again once it answers; it publishes them first.",
                )
            threading.Event().wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def drop_published(self, batch: int) -> None:
        """Removes what is staged of a batch that Spark has committed and a service has taken: files are moved, those are copied."""
        manifest = self._manifest(batch)
        for section in manifest.sections if manifest is not None else ():
            sink = self.sinks.get(section.output)
            if sink is not None and sink.may_lag and section.digest.rows and batch not in self.waiting.get(section.output, ()):
                sink.abort(section.directory)

    @property
    def open_batches(self) -> set[int]:
        """The batches that wait for any output."""
        return {number for batches in self.waiting.values() for number in batches}

    def _publish_or_wait(self, manifest: Manifest, section: Section) -> None:
        waiting = self.waiting.setdefault(section.output, [])
        if manifest.batch in waiting:
            return
        if not waiting:
            try:
                self._publish(manifest, section)
                return
            except SinkUnavailable as problem:
                if not self.sinks[section.output].may_lag:
                    raise
                self._is_down(section.output, problem)
        waiting.append(manifest.batch)
        limit = self.limits.get(section.output, 0)
        if len(waiting) > limit:
            raise SinkError(
                f"{len(waiting)} batches wait for {section.output}: {self.reasons[section.output].message}",
                required=f"[sink.{section.output}] backlog lets {limit} wait. Nothing is lost.",
                remedy="Run the job again once it answers; it publishes them first. Or raise backlog.",
            )

    def _publish(self, manifest: Manifest, section: Section) -> None:
        self._admit(section.output)
        sink = self.sinks[section.output]
        sink.prepare(manifest, section)
        sink.publish(manifest, section)

    def _admit(self, output: str) -> None:
        if output not in self._admitted:
            self.admit(output)
            self._admitted.add(output)

    def _is_down(self, output: str, problem: SinkUnavailable) -> None:
        if output not in self.reasons:
            self.notes.append(f"The output {output} had to wait: {problem.message}")
        self.reasons[output] = problem

    def _manifest(self, batch: int) -> Manifest | None:
        """The manifest of a batch; CheckpointError where it is torn: what an output still waits for would be forgotten."""
        try:
            return self.manifests.read(batch)
        except ValueError as problem:
            raise CheckpointError(
                f"{self.manifests.path(batch)} is {problem}.",
                required="It names the rows that an output may still wait for.",
                remedy="Restore it from a backup of the checkpoint.",
            ) from problem

    def _is_staged(self, batch: int, output: str) -> bool:
        """Whether a batch has rows for an output of which anything is staged; whether they are whole is seen when they are published."""
        manifest = self._manifest(batch)
        section = manifest.section(output) if manifest is not None else None
        return section is not None and bool(section.digest.rows) and self._has_staged(batch, output)

    def _has_staged(self, batch: int, output: str) -> bool:
        place = self.sinks[output].place
        return any(name.startswith(f"{batch:06d}-") for name in place.storage.list(place.staging))


def _lost(path: str, output: str) -> CheckpointError:
    return CheckpointError(
        f"{path} is gone, and {output} still waits for its batch.",
        required="It names the rows that are to be published.",
        remedy="Restore it from a backup of the checkpoint.",
    )
