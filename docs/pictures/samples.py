"""The events of the worked examples, from the same files that `python examples/sample.py` writes: a picture shows what a run reads."""

import runpy
from datetime import datetime
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"


def batches(example: str) -> list[list[dict[str, Any]]]:
    """The events of each batch that can be read, with `at` as a datetime."""
    found = runpy.run_path(str(EXAMPLES / example / "sample.py"))["BATCHES"]
    return [
        [{**event, "at": datetime.fromisoformat(event["at"])} for event in events if not isinstance(event, str)] for events in found
    ]
