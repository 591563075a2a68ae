"""One warm JVM for all proofs of this folder."""

from collections.abc import Sequence

import pytest

from streamproof.prove.process.engine import Engine


@pytest.fixture(scope="session", autouse=True)
def engine(connectors: Sequence[str]) -> Engine:
    """Proofs take the running session and leave it open; other test folders of the same process go on with it."""
    return Engine("tests", {}, jars=connectors)
