"""What a stranger finds in a fresh clone: nothing of one machine, and the set-up pinned."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = sorted(
    path
    for folder in ("src", "jvm", "tests", "examples", "benchmarks", "docs", ".ci")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".java", ".toml", ".md", ".html", ".css", ".js", ".sh", "")
    and path.is_file()
    and ".streamproof" not in path.parts
    and "__pycache__" not in path.parts
) + [path for path in (ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "hatch_build.py") if path.is_file()]
# Written apart, so that this file does not find itself.
MACHINE_PATHS = re.compile(
    r"(?<![\w.*])(?:"
    + "|".join(("/ro" + "ot/", "/ho" + "me/", "/wo" + "rk/", "/opt/wh" + "eels", "/tmp/l" + "ab", "/Us" + "ers/"))
    + ")"
)


def test_the_lock_names_the_public_registry_only():
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    hosts = set(re.findall(r"https?://([^/\"]+)/", (ROOT / "uv.lock").read_text()))

    assert hosts == {"pypi.org", "files.pythonhosted.org"}
    assert [package["name"] for package in lock["package"] if set(package["source"]) - {"registry"}] == ["streamproof"]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_file_names_a_place_on_one_machine(path):
    assert not MACHINE_PATHS.findall(path.read_text(encoding="utf-8", errors="replace"))


def test_the_version_is_said_once_in_each_place():
    import streamproof

    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == streamproof.__version__
