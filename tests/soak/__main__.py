"""`make soak`: jobs of each kind run for thousands of batches, and what grows without end is found.

Files by folder, bytes, living objects of the JVM, memory of Python, threads, descriptors, the time of a batch and of a start are held early
against late. The curves are in reports/soak/KIND.html.
"""

import argparse
import signal
import sys
from fnmatch import fnmatch
from pathlib import Path

from soak.catalogue import KINDS
from soak.drawn import write
from soak.growth import growths
from soak.kinds import SETTINGS, SHORT_MEMORY
from soak.running import soaked
from soak.samples import Sample

HOME = Path(__file__).parents[2]
SHORT = 1_000
"""Below so many batches Spark keeps less than by default, or nothing would have been removed yet."""


def main() -> int:
    """0 if nothing has grown beyond what is kept on purpose."""
    asked = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    asked.add_argument("--batches", type=int, default=2_000, help="so many of each job; 200 at least")
    asked.add_argument("--only", default="*", help=f"kinds, such as 'se*': {', '.join(KINDS)}")
    asked.add_argument("--every", type=float, default=0.5, help="at most one batch in so many seconds")
    asked.add_argument("--report", type=Path, default=HOME / "reports/soak")
    wanted = asked.parse_args()
    if wanted.batches < 200:
        asked.error("Fewer than 200 batches show nothing.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the job that runs is ended on the way out
    bad = []
    for kind in (kind for name, kind in KINDS.items() if fnmatch(name, wanted.only)):
        settings = SHORT_MEMORY if wanted.batches < SHORT else SETTINGS
        found = soaked(kind, HOME / "build/soak" / kind.name, wanted.batches, settings, every=wanted.every, say=_say(kind.name))
        grown = growths(found.samples, found.batches, found.starts)
        print(f"{kind.name}: {write(found, grown, wanted.report)}")
        for each in grown:
            print(f"  {'GROWS ' if each.too_much else '      '}{each}")
        bad += [kind.name for each in grown if each.too_much]
    return 1 if bad else 0


def _say(kind: str):
    def say(sample: Sample) -> None:
        files = sum(sample.files.values())
        print(
            f"{kind}: batch {sample.batch:,}   files {files:,}   heap {sample.heap / 1e6:.0f} MB   Python {sample.memory / 1e6:.0f} MB   "
            f"threads {sample.threads}   descriptors {sample.descriptors}   a batch {sample.batch_ms:.0f} ms",
            flush=True,
        )

    return say


if __name__ == "__main__":
    sys.exit(main())
