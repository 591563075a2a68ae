"""What all tests share: one warm JVM, which can read Kafka wherever tests with services are among those that run."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from streamproof.prove.process import apart
from streamproof.runtime.spark.connector_jars import KAFKA, jars_of

# Tests look into a proof and change it, and share its JVM: it runs in their process. Those of the namespaces start processes of their own.
apart.stay_here()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the full tables: what they cost is not paid by every change. `make test FULL=1` runs them."""
    if os.environ.get("FULL"):
        return
    left_out = {*_beyond_the_first(items), *(item for item in items if item.get_closest_marker("full"))}
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _beyond_the_first(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Of tests with many cases those after the first ones that always run: `@pytest.mark.always(2)`."""
    met: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("always")
        if mark is not None:
            test = item.nodeid.partition("[")[0]
            met[test] += 1
            if met[test] > mark.args[0]:
                yield item


@pytest.fixture(scope="session")
def connectors(request: pytest.FixtureRequest) -> Sequence[str]:
    """The jars that the session has beside our own: a JVM takes none up once it runs."""
    with_services = any(item.get_closest_marker("service") for item in request.session.items)
    return jars_of(KAFKA) if with_services else ()
