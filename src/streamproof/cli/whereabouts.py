"""Where the records of a key are, as a short story in the terminal."""

from rich.console import Console
from rich.text import Text

from streamproof.report import words
from streamproof.report.state_table import cell
from streamproof.whereabouts import PUBLISHED, STATE, Whereabouts


def print_whereabouts(found: Whereabouts, where: str, console: Console) -> None:
    """Print what was found, output by output, and what was not looked at with the reason."""
    count = words.counted(len(found.found), "row")
    console.print(Text(f"{words.printable(where)} · {count}", style="bold"), soft_wrap=True)
    for one in found.found:
        is_state = one.place == STATE
        batch = "" if one.batch is None else f"after batch {one.batch}, " if is_state else f"batch {one.batch} of "
        of = "" if one.where == one.query else f" of {one.query}"
        console.print(Text(f"  {batch}{one.where}{of}"), soft_wrap=True)
        left = one.place not in (PUBLISHED, STATE)
        console.print(Text(f"    {words.printable(one.says)}", style="bold red" if left else ""), soft_wrap=True)
        row = "   ".join(f"{name} {cell(value)}" for name, value in one.row.items())
        console.print(Text(f"    {row}", style="dim"), soft_wrap=True)
    if not found.found:
        console.print(
            Text(
                "  A record that was filtered, or dropped as a duplicate, is in no output, and one that came into a closed window is in its row."
            ),
            soft_wrap=True,
        )
    for name in found.more:
        console.print(Text(f"  {name} has more: --limit shows them", style="dim"), soft_wrap=True)
    for name, why in found.not_looked_at.items():
        console.print(Text(f"  not looked at: {name}: {words.printable(why)}", style="dim"), soft_wrap=True)
