"""What scenarios call what is theirs in services."""

import re

TOPIC = "kafka.topic:"
"""What the word for a topic begins with: `{kafka.topic:totals}`."""


def own_name(scenario: str) -> str:
    """A scenario's name as services take it: in schemas, topics, prefixes and paths."""
    return re.sub(r"\W", "_", scenario).lower()
