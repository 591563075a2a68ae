from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamproof.cli.main import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def streamproof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def streamproof(*arguments: str) -> Result:
        code = main(arguments)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return streamproof


@pytest.fixture
def my_job(streamproof) -> Path:
    assert streamproof("init", "my_job").code == 0
    return Path("my_job")
