"""When a window gives rows: one module for each emission. What the product makes of it has a twin in `prove/oracle/emissions`."""

from streamproof.stream.emissions.corrections import Corrections
from streamproof.stream.emissions.early import Early
from streamproof.stream.emissions.emission import Emission
from streamproof.stream.emissions.final import Final

EMISSIONS: dict[str, Emission] = {emission.name: emission for emission in (Final(), Corrections(), Early())}
"""By the names that `window(emit=...)` takes."""

__all__ = ["EMISSIONS", "Corrections", "Early", "Emission", "Final"]
