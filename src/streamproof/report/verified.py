"""Whether a checkpoint is sound, in the terminal: the verdict first, then each finding with what it means, then what to do."""

import shlex

from rich.console import Console
from rich.text import Text

from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.verify.finding import in_words
from streamproof.checkpoint.verify.sound import Cost, Verified
from streamproof.report import words

_LABEL = 14
_SHOWN = 20


def print_verified(found: Inspection, verified: Verified, console: Console) -> None:
    """Print what was found in a checkpoint."""
    looked = words.counted(verified.looked_at, "file") + " looked at"
    if verified.is_sound:
        state = (
            "no batch yet"
            if verified.newest is None
            else f"a start goes on after batch {verified.sound[-1] if verified.sound else 'none'}"
        )
        head = Text("SOUND  ", style="bold green")
        head.append(f"{words.printable(str(found.path))} · {state} · {looked}", style="bold default")
        console.print(head, soft_wrap=True)
        _unsure(verified, console)
        return
    head = Text("DAMAGED  ", style="bold red")
    head.append(
        f"{words.printable(str(found.path))} · {words.counted(len(verified.problems), 'finding')} · {looked}", style="bold default"
    )
    console.print(head, soft_wrap=True)
    for problem in verified.problems[:_SHOWN]:
        about = in_words(problem.batches)
        _line(console, problem.harm.value, problem.says)
        _line(console, "", f"{problem.means}{f' ({about})' if about else ''}")
    if len(verified.problems) > _SHOWN:
        _line(console, "", f"and {words.number(len(verified.problems) - _SHOWN)} more; --json has all")
    _unsure(verified, console)
    for label, text in _way_out(found, verified):
        _line(console, label, text)


def _unsure(verified: Verified, console: Console) -> None:
    for text in verified.unsure:
        _line(console, "not known", text)


def _way_out(found: Inspection, verified: Verified) -> list[tuple[str, str]]:
    if not verified.sound:
        return [
            ("sound batch", "none: no batch that is kept has all that a start needs"),
            (
                "next",
                f"move it away, and put it back from a backup: streamproof restore BACKUP --to {shlex.quote(str(found.path))}; or start over with a "
                "new checkpoint and new outputs",
            ),
        ]
    best = verified.sound[-1]
    if verified.goes_on:
        return [
            ("sound batch", f"{best} is the newest: a start goes on after it"),
            ("next", "nothing has to be done; nobody can go back to the batches that are named"),
        ]
    return [
        ("sound batch", f"{best} is the newest{_cost(verified.cost)}"),
        (
            "next",
            f"streamproof recover {shlex.quote(str(found.path))} --to {best}      makes a sound copy beside it; or bring the named files back from a backup",
        ),
    ]


def _cost(cost: Cost | None) -> str:
    if cost is None:
        return "; nothing that is committed is lost by going on from it"
    read = [
        words.counted(cost.records, "record") if cost.records is not None else "",
        words.counted(cost.files, "file") if cost.files is not None else "",
    ]
    known = " and ".join(filter(None, read))
    again = f"{cost.batches} batch{'es' if cost.batches != 1 else ''}"
    which = "batches are" if cost.batches != 1 else "batch is"
    return f"; going back to it costs {again}{f', with {known}' if known else ''}: the {which} computed again"


def _line(console: Console, label: str, text: str) -> None:
    console.print(Text("  " + label.ljust(_LABEL), style="dim") + Text(words.printable(text), style="not dim"), soft_wrap=True)
