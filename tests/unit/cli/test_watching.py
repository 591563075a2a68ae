"""`prove --watch`: which saves count, that modules are imported anew, and that what is wrong does not end it."""

import sys
import threading
from pathlib import Path

import pytest

from streamproof.cli.watching import forget, is_of_the_job, prove_at_each_save


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("job.py", True),
        ("streamproof.toml", True),
        ("data/trades.jsonl", True),
        ("notes.txt", False),
        (".streamproof/runs/0001/report.json", False),
        ("checkpoints/exposure/metadata.json", False),
        ("out/exposure/batch=000001/part-0.json", False),
        ("__pycache__/job.py", False),
        (".job.py", False),
    ],
)
def test_files_that_a_job_is_made_of_count_and_those_that_a_run_writes_do_not(file: str, counts: bool, tmp_path: Path) -> None:
    assert is_of_the_job(str(tmp_path / file), tmp_path) is counts


def test_a_module_of_the_job_is_imported_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rates_of_the_job.py").write_text("RATE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import rates_of_the_job  # type: ignore[import-not-found]

    assert rates_of_the_job.RATE == 1
    forget(tmp_path)

    assert "rates_of_the_job" not in sys.modules
    assert "streamproof.cli.watching" in sys.modules


def test_a_save_proves_again_and_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("")
    said: list[str] = []
    proved = 0

    def prove() -> None:
        nonlocal proved
        proved += 1
        if proved == 2:
            raise KeyboardInterrupt

    def say(text: str) -> None:
        said.append(text)
        if "waiting" in text:  # the watch begins right after this: save until it has been seen
            threading.Thread(target=save, daemon=True).start()

    stop = threading.Event()

    def save() -> None:
        number = 0
        while not stop.wait(0.2):
            number += 1
            (tmp_path / "job.py").write_text(f"# {number}\n")

    try:
        with pytest.raises(KeyboardInterrupt):
            prove_at_each_save(tmp_path, [], prove, say)
    finally:
        stop.set()

    assert proved == 2
    assert any("job.py saved" in text for text in said)
