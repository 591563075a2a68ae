"""A scenario's process draws random numbers of its own, as a process that starts does (R17)."""

import subprocess
import sys

FORKS = """
import os
import numpy
from streamproof.prove import zygote_main
for _ in range(2):
    child = os.fork()
    if child == 0:
        zygote_main._draw_anew()
        print(numpy.random.rand(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_two_forks_draw_different_numbers() -> None:
    drawn = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True).stdout.split()

    assert len(drawn) == len(set(drawn)) == 2
