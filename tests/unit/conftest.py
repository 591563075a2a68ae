"""What one unit test took as a secret is none in the next: it would be taken out of its messages."""

from collections.abc import Iterator

import pytest

from streamproof.config import secret


@pytest.fixture(autouse=True)
def no_secrets_of_other_tests() -> Iterator[None]:
    before = dict(secret._known)
    yield
    secret._known.clear()
    secret._known.update(before)
