import json
from itertools import pairwise
from pathlib import Path

import pytest

from streamproof.config import load
from streamproof.prove.scenario.scenario import load_scenario


def test_init_makes_everything_a_job_needs(streamproof, my_job):
    names = {str(path.relative_to(my_job)) for path in my_job.rglob("*") if path.is_file()}

    assert names >= {"job.py", "model.py", "streamproof.toml", "scenario.toml", "test_job.py", "README.md", "data/trades/01.json"}
    assert not any("__pycache__" in name for name in names)


def test_what_init_makes_is_valid(my_job):
    config, scenario = load(my_job), load_scenario(my_job)

    assert config.source.keys() == scenario.source.keys() == {"trades"}
    test = (my_job / "test_job.py").read_text()
    assert "assert sp.prove(Path(__file__).parent, quick=True, progress=True)" in test
    assert "capsys.disabled()" in test, "pytest would keep the progress to itself"
    for file in ("job.py", "model.py", "test_job.py"):
        compile((my_job / file).read_text(), file, "exec")


def test_the_sample_has_200_lines_and_something_of_everything(my_job):
    files = sorted((my_job / "data/trades").iterdir())
    lines = [line for file in files for line in file.read_text().splitlines()]
    trades, broken = [], 0
    for line in lines:
        try:
            trades.append(json.loads(line))
        except json.JSONDecodeError:
            broken += 1

    assert len(lines) == 200
    assert broken == 1
    assert len({trade["trade_id"] for trade in trades}) < len(trades), "no copies"
    assert any(trade["notional"] < 0 for trade in trades), "nothing to reject"
    assert any(trade["ts"] < trades[0]["ts"] + 400_000 for trade in trades[150:]), "nothing late"


def test_the_files_of_the_sample_have_an_order(my_job):
    times = [file.stat().st_mtime for file in sorted((my_job / "data/trades").iterdir())]

    assert all(later - earlier >= 0.9 for earlier, later in pairwise(times))


def test_init_says_what_to_type_next(streamproof):
    out = streamproof("init", "a/b").out

    assert all(f"streamproof {command} a/b" in out for command in ("check", "run", "prove"))


def test_a_folder_that_holds_something_is_left_alone(streamproof):
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine")

    result = streamproof("init", "full")

    assert result.code == 2
    assert result.err.startswith("error  full is not empty.")
    assert [path.name for path in Path("full").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("make", ["empty", "file"])
def test_an_empty_folder_is_taken_and_a_file_is_not(streamproof, make):
    Path("empty").mkdir()
    Path("file").touch()

    assert streamproof("init", make).code == (0 if make == "empty" else 2)
