"""`python -m streamproof` is the command."""

import subprocess
import sys

from streamproof import __version__


def test_the_package_can_be_run():
    done = subprocess.run([sys.executable, "-m", "streamproof", "--version"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, f"streamproof {__version__}\n")


def test_its_exit_code_is_that_of_the_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "streamproof", "check", "nowhere"], capture_output=True, text=True, check=False, cwd=tmp_path
    )

    assert done.returncode == 2
    assert "nowhere" in done.stdout + done.stderr
