"""The leaf of the tree: the records of a source, behind what it rejects."""

from streamproof.prove.oracle.operators.twin import Twin


class Source(Twin):
    """The records of a source."""
