"""The twin of a union: the rows of both inputs go on, those of the first before those of the second."""

from streamproof.prove.oracle.operators.twin import Twin


class Union(Twin):
    """Two streams, put together."""
