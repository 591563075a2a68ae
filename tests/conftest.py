"""What all tests share: one warm JVM, which can read Kafka wherever tests with services are among those that run."""

from collections.abc import Sequence

import pytest

from streamproof.runtime.connector_jars import KAFKA, jars_of


@pytest.fixture(scope="session")
def connectors(request: pytest.FixtureRequest) -> Sequence[str]:
    """The jars that the session has beside our own: a JVM takes none up once it runs."""
    with_services = any(item.get_closest_marker("service") for item in request.session.items)
    return jars_of(KAFKA) if with_services else ()
