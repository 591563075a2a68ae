"""A process that proves mutants may die of one, or hang: the next one is proved all the same."""

from pathlib import Path

import pytest

from mutants.workers import Worker

ANSWERS = """
import json, os, sys
with os.fdopen(int(sys.argv[1]), "w") as out:
    for line in sys.stdin:
        asked = json.loads(line)
        if asked == {"mutant": "deadly"}:
            os._exit(9)
        if asked == {"mutant": "hanging"}:
            continue
        out.write(json.dumps({"verdict": "pass", "failing": {}, "of": os.getpid()}) + "\\n")
        out.flush()
"""


@pytest.mark.parametrize(("mutant", "said"), [("deadly", "has ended with 9"), ("hanging", "no answer within 0.1 seconds")])
def test_a_worker_that_dies_or_hangs_is_replaced(tmp_path: Path, mutant: str, said: str) -> None:
    worker = Worker(tmp_path, on_services=False, program=("-c", ANSWERS))
    try:
        first = worker.ask({"mutant": "any"})
        assert worker.ask({"mutant": "another"})["of"] == first["of"], "it goes on in the same process"

        if mutant == "hanging":
            worker.patience_seconds = 0.1
        assert said in worker.ask({"mutant": mutant})["problem"]
        worker.patience_seconds = 60

        assert worker.ask({"mutant": "any"})["of"] != first["of"]
    finally:
        worker.close()
