"""What all tests share: one warm JVM, which can read Kafka wherever tests with services are among those that run."""

import os
from collections.abc import Sequence

import pytest

from streamproof.runtime.connector_jars import KAFKA, jars_of


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the full tables: what they cost is not paid by every change. `make test FULL=1` runs them."""
    if os.environ.get("FULL"):
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def connectors(request: pytest.FixtureRequest) -> Sequence[str]:
    """The jars that the session has beside our own: a JVM takes none up once it runs."""
    with_services = any(item.get_closest_marker("service") for item in request.session.items)
    return jars_of(KAFKA) if with_services else ()
