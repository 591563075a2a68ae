"""What mkdocs does with a page before it is drawn: marks for the tests leave the fences, since its parser knows none of them."""

import re
from typing import Any

_MARKED = re.compile(r"^( *```(?:python|console)) [^\n]+$", re.MULTILINE)
"""```console exec spark: tests/docs/blocks.py says what the marks mean."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    return _MARKED.sub(r"\1", markdown)
