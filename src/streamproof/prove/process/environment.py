"""Variables that the environment of this process has for a while."""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def in_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Has the variables in the environment of this process meanwhile."""
    with _ONE_AT_A_TIME:
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
