"""A process between us and a service: starts it, and ends it when we are gone, however we ended. Standard library only.

    python guardian.py {"log": ..., "command": [...], "user": ..., "remove": [...]}

Standard input is a pipe that only the starting process holds. When it closes, by whatever death, the service's process group is killed.
`user` is whom the service runs as, null for ourselves; `remove` are folders that go then too.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress


def main() -> int:
    told = json.loads(sys.argv[1])
    with open(told["log"], "ab") as out:  # noqa: PTH123 -- pathlib would double the start-up time of this process
        service = subprocess.Popen(
            told["command"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            user=told["user"],
            extra_groups=[] if told["user"] else None,
            start_new_session=True,
        )
    print(service.pid, flush=True)  # noqa: T201 -- read by Process
    orphaned = threading.Event()
    watching = threading.Thread(target=_end_with_parent, args=(service.pid, told["remove"], orphaned), daemon=True)
    watching.start()
    code = service.wait()
    if orphaned.is_set():
        watching.join()
    return code


def _end_with_parent(group: int, remove: list[str], orphaned: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    orphaned.set()
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    for folder in remove:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
