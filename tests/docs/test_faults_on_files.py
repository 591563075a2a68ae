"""The page on what a pass means names every fault on jobs that read and write files."""

import re
from pathlib import Path

from streamproof.prove.plan.on_files import FAULTS

PAGE = Path(__file__).parents[2] / "docs" / "what-a-pass-means.md"


def test_the_table_has_every_fault():
    named = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert {fault.name for fault in FAULTS} <= set(named)
