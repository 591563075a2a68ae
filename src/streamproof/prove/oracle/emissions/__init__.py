"""The twins of emissions, in plain Python: which windows give rows in a batch. They share no code with `stream/emissions`."""

from streamproof.prove.oracle.emissions.corrections import PlainCorrections
from streamproof.prove.oracle.emissions.early import PlainEarly
from streamproof.prove.oracle.emissions.emission import Given, PlainEmission
from streamproof.prove.oracle.emissions.final import PlainFinal
from streamproof.prove.oracle.shape import QueryShape


def emission_of(shape: QueryShape) -> PlainEmission:
    """The twin of what a query asked for, for one run."""
    match shape.emit:
        case "final":
            return PlainFinal()
        case "early":
            return PlainEarly()
        case "corrections":
            return PlainCorrections(shape.lateness_us)
    raise ValueError(f"no twin of the emission {shape.emit}")


__all__ = ["Given", "PlainCorrections", "PlainEarly", "PlainEmission", "PlainFinal", "emission_of"]
