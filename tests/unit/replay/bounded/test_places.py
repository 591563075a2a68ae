"""Where a bounded run writes to: never into a folder that is somebody else's."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamproof.errors import ConfigurationError, OutputInUse
from streamproof.replay.bounded.places import MARKER, folder_of, mark, require_own


@dataclass
class Disk:
    """Folders as names with texts."""

    files: dict[str, str] = field(default_factory=dict)

    def list(self, path: str) -> dict[str, int]:
        return {name.removeprefix(f"{path}/"): len(text) for name, text in self.files.items() if name.startswith(f"{path}/")}

    def read(self, path: str) -> str | None:
        return self.files.get(path)

    def replace_atomic(self, path: str, text: str) -> None:
        self.files[path] = text


def bound(root: str = "/job"):
    config = SimpleNamespace(
        checkpoint="checkpoint",
        source={"trades": SimpleNamespace(path="data"), "topic": SimpleNamespace(topic="t")},
        resolve=lambda path: path if "://" in path else f"{root}/{path}",
    )
    places = {
        "sums": SimpleNamespace(path=f"{root}/out/sums", service=None),
        "table": SimpleNamespace(path=f"{root}/staged", service=object()),
    }
    return SimpleNamespace(config=config, places=places)


def test_without_a_folder_it_lies_beside_the_checkpoint() -> None:
    assert folder_of(bound(), None) == "/job/checkpoint-bounded"


def test_a_folder_is_taken_from_where_the_command_is_typed(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    assert folder_of(bound(), "once/") == str(tmp_path / "once")
    assert folder_of(bound(), "s3a://bucket/once") == "s3a://bucket/once"


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("/job/out/sums", r"\[sink.sums\]"),
        ("/job/out", r"\[sink.sums\]"),
        ("/job/out/sums/once", r"\[sink.sums\]"),
        ("/job", "its checkpoint"),
        ("/job/checkpoint/sums", "its checkpoint"),
        ("/job/data/", r"\[source.trades\]"),
        ("file:/job/data", r"\[source.trades\]"),
    ],
)
def test_a_folder_of_the_job_is_refused(to: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as refused:
        folder_of(bound(), to)

    assert "never writes into an output" in refused.value.required


def test_a_folder_beside_one_of_the_job_is_taken() -> None:
    assert folder_of(bound(), "/job/out/sums-2") == "/job/out/sums-2"
    assert folder_of(bound(), "/job/staged") == "/job/staged", "a table is no folder"


def test_what_an_earlier_run_has_written_is_replaced() -> None:
    disk = Disk()
    require_own("/once", "exposure", disk)
    mark("/once", "exposure", disk, complete=False)
    disk.files["/once/sums/part-0.parquet"] = "rows"

    require_own("/once", "exposure", disk)

    assert json.loads(disk.files[f"/once/{MARKER}"])["complete"] is False


def test_what_something_else_has_written_is_not() -> None:
    with pytest.raises(OutputInUse, match=r"holds part-0\.parquet"):
        require_own("/once", "exposure", Disk({"/once/part-0.parquet": "rows"}))
    with pytest.raises(OutputInUse, match="holds a bounded run of positions"):
        require_own("/once", "exposure", Disk({f"/once/{MARKER}": '{"job": "positions"}'}))
    with pytest.raises(OutputInUse, match="of unknown"):
        require_own("/once", "exposure", Disk({f"/once/{MARKER}": "torn"}))
