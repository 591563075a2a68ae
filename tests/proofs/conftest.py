"""One warm JVM for all proofs of this folder."""

from collections.abc import Sequence
from concurrent.futures import Future

import pytest

from streamproof.prove.process import zygote
from streamproof.prove.process.engine import Engine
from streamproof.prove.process.task import ChildResult

LIBRARIES = ("encodings", "numpy", "pandas", "py4j", "pyarrow", "pyspark", "streamproof")


@pytest.fixture(scope="session", autouse=True)
def engine(connectors: Sequence[str]) -> Engine:
    """Proofs take the running session and leave it open; other test folders of the same process go on with it."""
    return Engine("tests", {}, jars=connectors)


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What scenarios import of the libraries that each has, which the process they are forked from should have: each would pay for it."""
    found, settle = set[str](), zygote._settle

    def settled(future: "Future[ChildResult]", result: ChildResult) -> None:
        found.update(name for name in result.imported if name.partition(".")[0] in LIBRARIES)
        settle(future, result)

    monkeypatch.setattr(zygote, "_settle", settled)
    return found
