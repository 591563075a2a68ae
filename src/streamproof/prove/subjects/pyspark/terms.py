"""On which terms the runs of a PySpark job are compared."""

from dataclasses import dataclass, field

from streamproof.prove.subjects.pyspark.expected import Expected
from streamproof.prove.subjects.pyspark.ignored import Ignored


@dataclass(frozen=True)
class Terms:
    """On which terms runs are compared.

    Parameters
    ----------
    masked
        Whether values of rows are kept out of reports.
    ignored
        The columns that are left out of every comparison.
    expected
        What the user lets be.
    """

    masked: bool = True
    ignored: Ignored = field(default_factory=Ignored)
    expected: Expected = field(default_factory=Expected)
