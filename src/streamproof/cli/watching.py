"""`prove --watch`: proves again whenever a file of the job is saved, in a JVM that stays warm."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from streamproof.cli import screen
from streamproof.cli.prove_screen import near
from streamproof.errors import StreamproofError

if TYPE_CHECKING:
    from streamproof.proof import Proof
    from streamproof.prove.events import Event

SUFFIXES = (".py", ".toml", ".sql", ".json", ".jsonl", ".csv", ".parquet", ".orc", ".avro", ".avsc", ".proto")
_OURS = (".streamproof", "checkpoints", "out", "__pycache__")


def watch(target: str, profile: str | None, samples: Iterable[Path], prove: "Callable[[Callable[[Event], None]], Proof]") -> None:
    """Proves at each save; what is wrong with the job is said, and the next save is waited for.

    Parameters
    ----------
    samples
        Files of the job that may lie elsewhere.
    prove
        Proves it once, and tells a listener how far it is.
    """
    from streamproof.progress import progress_on
    from streamproof.report.terminal import print_summary

    out = screen.console()
    place = Path(target.rpartition(":")[0] if ":" in target else target).resolve()
    folder = place if place.is_dir() else place.parent

    def prove_once() -> None:
        try:
            with progress_on(out) as progress:
                proof = prove(progress)
            out.print()
            print_summary(proof.report, out, where=near(proof.folder / "report.html"))
        except StreamproofError as problem:
            screen.print_error(problem, target=target, profile=profile)

    try:
        prove_at_each_save(folder, samples, prove_once, out.print)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def prove_at_each_save(folder: Path, more: Iterable[Path], prove: Callable[[], None], say: Callable[[str], None]) -> None:
    """Proves once, and again at each save, until Ctrl-C.

    Parameters
    ----------
    folder
        That of the job.
    more
        Files that lie elsewhere, such as samples.

    Raises
    ------
    MissingExtra
        If the library that watches files is not installed.
    """
    from streamproof.connectors.extras import library

    watch = library("watchfiles", "watch", "prove --watch").watch
    others = [path for path in more if folder not in path.resolve().parents]
    prove()
    say(_waiting(folder))
    for changes in watch(folder, *others, watch_filter=lambda _, path: is_of_the_job(path, folder), raise_interrupt=True):
        names = sorted({Path(path).name for _, path in changes})
        say(f"\n{', '.join(names[:3])} saved")
        forget(folder)
        prove()
        say(_waiting(folder))


def is_of_the_job(path: str, folder: Path) -> bool:
    """Whether a file is one that a job is made of, and not one that a run or a proof writes."""
    inside = Path(path)
    parts = inside.relative_to(folder).parts if folder in inside.parents else inside.parts[-1:]
    return inside.suffix in SUFFIXES and not any(part in _OURS or part.startswith(".") for part in parts)


def forget(folder: Path) -> None:
    """Lets the modules of a job be imported anew."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and folder in Path(file).resolve().parents and not name.startswith("streamproof"):
            del sys.modules[name]


def _waiting(folder: Path) -> str:
    from streamproof.core.paths import display

    return f"\nwaiting for a file in {display(folder)} to be saved; Ctrl-C ends it"
