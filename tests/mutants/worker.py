"""Proves mutants one after the other, on one warm JVM: a line with a number and a name comes in, a line of JSON goes out."""

import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from mutants.catalogue import Selection, catalogue
from mutants.proving import prove_here, proved
from streamproof.connectors.kafka.jars import SPARK_KAFKA
from streamproof.prove.process.engine import Engine
from streamproof.runtime.spark.connector_jars import jars_of


def main(answers: int, scratch: str, *, on_services: bool) -> None:
    """Reads lines of JSON from standard input: a mutant's name, or a selection for the sound product."""
    mutants = {mutant.name: mutant for mutant in catalogue()}
    Engine("mutants", {}, jars=jars_of(SPARK_KAFKA.bundle) if on_services else ())
    with os.fdopen(answers, "w") as out:
        for line in sys.stdin:
            asked = json.loads(line)
            with tempfile.TemporaryDirectory(dir=scratch, prefix="mutant-") as folder:
                try:
                    if "mutant" in asked:
                        said = asdict(proved(mutants[asked["mutant"]], Path(folder)))
                    else:
                        change = tuple(map(tuple, asked["sound"].pop("change")))
                        said = asdict(prove_here(Selection(**asked["sound"], change=change), Path(folder)))
                except Exception as problem:  # noqa: BLE001  # a mutant can break anything: that is told, and the next one is tried
                    said = {"problem": f"{type(problem).__name__}: {problem}"[:2_000]}
            out.write(f"{json.dumps(said)}\n")
            out.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], on_services=sys.argv[3] == "services")
