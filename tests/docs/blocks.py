"""The code blocks of a page: which of them can be executed, and what they must print.

A fence in docs/tutorials, docs/guides, docs/explanations and docs/examples that is marked `console` or `python` says in the same line what is done with it:

    exec              it is executed, in the order of the page and in one folder for the page; `exec spark` starts a JVM, `exec proof` proves,
                      `exec proof full` does so with FULL=1 only;
                      a page with an `exec spark full` is executed with FULL=1 only
    exits="1"         with exec: the exit code of its command, 0 unless it is said
    file="job.py"     it is saved under this name, as the reader would do
    of="examples/…"   it is this file, word for word; the folder gets the example, and the script that writes its events
    needs="services"  it is not executed, and why

In a console block a line that begins with "$ " is a command. The lines below it must be printed in this order; others may stand between
them, and "…" stands for anything.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("tutorials", "guides", "explanations", "examples")
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]+)\n(?P<code>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE)
MARK = re.compile(r'(\w+)(?:="([^"]*)")?')
EXECUTED, SPARK, PROOF, FULL = "exec", "spark", "proof", "full"
LANGUAGES = ("python", "console")


@dataclass(frozen=True)
class Block:
    """One fence: its language, its marks, its text, and where it stands."""

    language: str
    marks: dict[str, str]
    code: str
    line: int

    @property
    def decided(self) -> bool:
        """Whether it says what is done with it."""
        return bool({EXECUTED, "file", "of", "needs"} & set(self.marks))


def pages() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / "docs" / folder).glob("*.md"))


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page that are Python or console."""
    found = []
    for fence in FENCE.finditer(text):
        language, _, said = fence["info"].partition(" ")
        if language in LANGUAGES:
            code = re.sub(rf"^{fence['indent']}", "", fence["code"], flags=re.MULTILINE)
            found.append(Block(language, dict(MARK.findall(said)), code, text[: fence.start()].count("\n") + 1))
    return found


PAGES = {path: blocks_of(path.read_text(encoding="utf-8")) for path in pages()}


def runs(*, with_spark: bool) -> list[Any]:
    """Each page as it is, and without its proofs of the full tables where it has such: the rest of it is executed by every change.

    Each command of a page of an example starts a JVM of its own: of those the full tables have the whole page alone.
    """
    found: dict[str, list[Block]] = {}
    for path, blocks in PAGES.items():
        everyday = [block for block in blocks if not {FULL, PROOF} <= set(block.marks)]
        if path.parent.name != "examples" and len(everyday) < len(blocks) and any(EXECUTED in block.marks for block in everyday):
            found[f"{path.stem}-without-its-proof"] = everyday
        if blocks:
            found[path.stem] = blocks
    return [
        pytest.param(blocks, id=name, marks=[pytest.mark.full] if FULL in asked else [])
        for name, blocks in found.items()
        for asked in [{mark for block in blocks for mark in block.marks}]
        if bool({SPARK, PROOF} & asked) is with_spark
    ]


def commands_of(code: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block with the lines that it must print."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        yield command, [line for line in lines if line.strip()]


def missing_line(wanted: list[str], printed: str) -> str | None:
    """The first line that is not printed after those before it; blanks count as one."""
    rest = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in wanted:
        pattern = re.compile(".*".join(map(re.escape, " ".join(line.split()).split("…"))))
        if not any(pattern.fullmatch(candidate) for candidate in rest):
            return line
    return None


def execute(blocks: list[Block], folder: Path) -> None:
    """Executes the blocks of a page, in their order and in one folder; AssertionError with the line of the page where one does not do as it says."""
    for block in blocks:
        if "file" in block.marks:
            place = folder / block.marks["file"]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.code, encoding="utf-8")
        elif "of" in block.marks:
            _copy_example(Path(block.marks["of"]).parent, folder)
        elif EXECUTED in block.marks and block.language == "python":
            code, printed = _run([sys.executable, "-c", block.code], folder)
            assert code == 0, f"line {block.line}: {printed}"
        elif EXECUTED in block.marks:
            for command, wanted in commands_of(block.code):
                code, printed = _run(["bash", "-euo", "pipefail", "-c", command], folder)
                assert code == int(block.marks.get("exits") or 0), f"line {block.line}: {command} ended with {code}:\n{printed}"
                missing = missing_line(wanted, printed)
                assert missing is None, f"line {block.line}: {command} did not print {missing!r}:\n{printed}"


def _copy_example(example: Path, folder: Path) -> None:
    written = shutil.ignore_patterns("data", "out", "checkpoints", ".streamproof", "__pycache__")
    shutil.copytree(ROOT / example, folder / example, ignore=written)
    shutil.copy2(ROOT / "examples" / "sample.py", folder / "examples")


def _run(command: list[str], folder: Path) -> tuple[int, str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout
