"""The process that scenarios are forked from: it has everything imported, one thread, and no JVM.

Its arguments are the modules to import. It reads the path of a task file per line, forks, and writes "EXIT TASK" lines as children end;
"-TASK" kills one. Forked from here a scenario starts in milliseconds; a fork of the proving process itself, with its threads, could deadlock.
"""

import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from streamproof.prove.process.imported_once import draw_anew, import_all

KILL = "-"
"""What a line begins with that kills; paths of tasks begin with a slash."""


def serve() -> None:
    """Serves until standard input closes."""
    ends = os.dup(sys.stdout.fileno())  # what the code that is imported prints goes to the log, and is no end of a scenario
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    import_all(sys.argv[1:])
    wake, woken = socket.socketpair()
    for end in (wake, woken):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    running: dict[int, str] = {}
    with selectors.DefaultSelector() as ready:
        ready.register(sys.stdin.fileno(), selectors.EVENT_READ)
        ready.register(wake, selectors.EVENT_READ)
        pending = b""
        while True:
            for key, _ in ready.select():
                if key.fileobj is wake:
                    wake.recv(4096)
                    continue
                chunk = os.read(sys.stdin.fileno(), 65536)
                if not chunk:
                    _kill(running)
                    return
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    task = line.decode()
                    if task.startswith(KILL):
                        _kill(child for child, its in running.items() if its == task.removeprefix(KILL))
                        continue
                    child = os.fork()
                    if child == 0:
                        os.close(ends)  # a scenario that goes on would hold it open
                        _run(task)
                    running[child] = task
            _reap(running, ends)


def _reap(running: dict[int, str], ends: int) -> None:
    for child in list(running):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            os.write(ends, f"{code}\t{running.pop(child)}\n".encode())


def _kill(children: Iterable[int]) -> None:
    for child in children:
        os.kill(child, signal.SIGKILL)


def _run(task_file: str) -> None:
    """In the child: runs the task, writes its result, and leaves without the exit handlers of py4j."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        draw_anew()
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(2, 1)
        from streamproof.prove.process.child import run_child
        from streamproof.prove.process.task import ChildTask

        task = ChildTask.from_json(Path(task_file).read_text())
        there = frozenset(sys.modules)
        result = run_child(task)
        result = replace(result, imported=tuple(sorted(sys.modules.keys() - there)))
        partial = Path(task.result + ".part")
        partial.write_text(result.to_json())
        partial.replace(task.result)
        code = 0
    except BaseException:  # noqa: BLE001  # whatever happened, the parent must hear of it
        Path(task_file + ".error").write_text(traceback.format_exc())
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve()
