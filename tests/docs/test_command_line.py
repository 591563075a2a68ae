"""The page on the command line has every option of every command, and no other."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from streamproof.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
ALWAYS = {"--help", "-h"}


def commands(group: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Every command by its whole name, with its options as they are typed; typer brings a click of its own, so no class is asked for."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*names, name))
        else:
            options = {word for each in command.params if each.param_type_name == "option" for word in each.opts}
            yield " ".join((*names, name)), options - ALWAYS


def section_of(name: str) -> str:
    """The section of a command, or that of its group: "schema check", "report"."""
    for heading in (name, name.split()[0]):
        found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
        if found:
            return found[1]
    return ""


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_there_are_commands_to_look_at():
    assert "--quick" in COMMANDS["prove"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_every_option_of_a_command(name):
    said = set(re.findall(r"`(--?[a-z-]+)[` ]", section_of(name)))

    assert COMMANDS[name] <= said


@pytest.mark.parametrize("heading", re.findall(r"^## ([a-z ]+)$", PAGE, re.MULTILINE))
def test_the_page_has_no_option_that_is_not_there(heading):
    known = {word for name, options in COMMANDS.items() if name == heading or name.startswith(f"{heading} ") for word in options}

    assert set(re.findall(r"^\| `(--?[a-z-]+)", section_of(heading), re.MULTILINE)) <= known


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_names_every_command(name):
    first, *rest = name.split()
    assert f"`streamproof {first}" in PAGE
    assert not rest or rest[0] in PAGE.split("\n## ", 1)[0]
