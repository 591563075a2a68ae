"""The code blocks of the pages that start a JVM do what the page says; tests/docs has the other pages."""

import pytest

from docs.blocks import execute, runs


@pytest.mark.parametrize("blocks", runs(with_spark=True))
def test_the_blocks_of_a_page_do_what_they_say(blocks, tmp_path):
    execute(blocks, tmp_path)
