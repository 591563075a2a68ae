"""What all tests share: one warm JVM, which can read Kafka wherever tests with services are among those that run."""

import os
import signal
from collections.abc import Sequence

import pytest

from streamproof.connectors.kafka.jars import SPARK_KAFKA
from streamproof.prove.process import apart
from streamproof.runtime.spark.connector_jars import jars_of

pytest_plugins = ("side_by_side.plugin",)

# Tests look into a proof and change it, and share its JVM: it runs in their process. Those of the namespaces start processes of their own.
apart.stay_here()

# A shell that is not interactive starts what runs in the background with Ctrl-C ignored, and with it all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the full tables: what they cost is not paid by every change. `make test FULL=1` runs them."""
    if os.environ.get("FULL"):
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("full")]


@pytest.fixture(scope="session")
def connectors(request: pytest.FixtureRequest) -> Sequence[str]:
    """The jars that the session has beside our own: a JVM takes none up once it runs."""
    with_services = any(item.get_closest_marker("service") for item in request.session.items)
    return jars_of(SPARK_KAFKA.bundle) if with_services else ()
