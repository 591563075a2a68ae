"""The daemon of Spark's Python workers during a proof: pyspark's own, with the socket guard in it and in every worker."""

import os
import runpy
import signal
from zipimport import zipimporter

from streamproof.prove.process import guard
from streamproof.prove.process.imported_once import TASKS, draw_anew, import_all

_IDLE_SECONDS = 30


def prepare() -> None:
    """Spares every worker what is the same for all of them; nothing on their path changes while a proof runs."""
    import_all(TASKS)
    # At its start a worker reads the directories of pyspark.zip and of every jar on its path anew: a quarter of a second.
    zipimporter.invalidate_caches = lambda _: None  # type: ignore[method-assign, assignment]


def watch_forks() -> None:
    """Each worker draws random numbers of its own; and this process ends once no worker of it has run for a while: Spark has a daemon for
    each path that Python code is looked for on, so for each job, and keeps them all. Where one is needed again, it starts another.
    """
    workers: set[int] = set()
    fork = os.fork

    def counted() -> int:
        child = fork()
        if child:
            workers.add(child)
            signal.alarm(_IDLE_SECONDS)
        else:
            draw_anew()
        return child

    def look(*_: object) -> None:
        workers.intersection_update([worker for worker in workers if _runs(worker)])
        if not workers:
            os._exit(0)
        signal.alarm(_IDLE_SECONDS)

    os.fork = counted
    signal.signal(signal.SIGALRM, look)
    signal.alarm(_IDLE_SECONDS)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    prepare()
    watch_forks()
    guard.install_in_worker()
    runpy.run_module("pyspark.daemon", run_name="__main__")
