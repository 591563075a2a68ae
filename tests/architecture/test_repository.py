"""What a stranger finds in a fresh clone: nothing of one machine, and the set-up pinned."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from architecture.modules import holds_for_each

ROOT = Path(__file__).parents[2]
TEXTS = sorted(
    path
    for folder in ("src", "jvm", "tests", "examples", "benchmarks", "docs", ".ci")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".java", ".toml", ".md", ".html", ".css", ".js", ".sh", "")
    and path.is_file()
    and not {".streamproof", "checkpoints"} & set(path.parts)
    and "__pycache__" not in path.parts
) + [path for path in (ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "hatch_build.py") if path.is_file()]
# Written apart, so that this file does not find itself.
MACHINE_PATHS = re.compile(
    r"(?<![\w.*])(?:"
    + "|".join(("/ro" + "ot/", "/ho" + "me/", "/wo" + "rk/", "/opt/wh" + "eels", "/tmp/l" + "ab", "/Us" + "ers/"))
    + ")"
)

JAVA = sorted((ROOT / "jvm").rglob("*.java"))
# Under an Arabic locale %d prints Arabic digits, under a Turkish one "I" becomes a letter that is no i.
BY_LOCALE = re.compile(
    r"String\s*\.format\s*\(\s*(?!Locale\.ROOT\b)|\.formatted\s*\(|\.to(?:Lower|Upper)Case\s*\(\s*\)|\.printf\s*\("
    r"|\b(?:NumberFormat|DecimalFormat|SimpleDateFormat|DateFormat|MessageFormat|Formatter|Locale\.getDefault)\b"
)


def test_the_lock_names_the_public_registry_only():
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    hosts = set(re.findall(r"https?://([^/\"]+)/", (ROOT / "uv.lock").read_text()))

    assert hosts == {"pypi.org", "files.pythonhosted.org"}
    assert [package["name"] for package in lock["package"] if set(package["source"]) - {"registry"}] == ["streamproof"]


@holds_for_each(TEXTS, lambda path: path.relative_to(ROOT).as_posix())
def test_no_file_names_a_place_on_one_machine(path):
    assert not MACHINE_PATHS.findall(path.read_text(encoding="utf-8", errors="replace"))


@holds_for_each(JAVA, lambda path: path.name)
def test_no_name_depends_on_the_locale(path):
    """Names of files that Java writes are found by Python, and by a run on another machine."""
    assert not [found.group() for found in BY_LOCALE.finditer(path.read_text(encoding="utf-8"))]


def test_the_ban_on_locales_sees_what_it_should():
    banned = ('String.format("%d", 1)', 'String.format(\n  "%d", 1)', '"%d".formatted(1)', "x.toLowerCase()", "x.toUpperCase( )")
    assert all(BY_LOCALE.search(call) for call in banned)
    assert not any(BY_LOCALE.search(call) for call in ('String.format(Locale.ROOT, "%d", 1)', "x.toLowerCase(Locale.ROOT)"))


def test_the_version_is_said_once_in_each_place():
    import streamproof

    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == streamproof.__version__


def test_no_source_is_ignored_since_the_wheel_leaves_out_what_git_ignores():
    sources = [str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.py") if "__pycache__" not in path.parts]
    asked = ["git", "check-ignore", "--no-index", "--stdin"]
    ignored = subprocess.run(asked, cwd=ROOT, input="\n".join(sources), capture_output=True, text=True, check=False)
    if ignored.returncode == 128:
        pytest.skip("no git checkout")

    assert ignored.stdout.splitlines() == []


def test_no_column_asks_for_empty_metadata():
    """On Spark 4.0 the watermark of a column would stay: `_jvm.without_metadata` takes it off on every version."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]

    assert [path.name for path in files if "metadata={}" in path.read_text()] == []
