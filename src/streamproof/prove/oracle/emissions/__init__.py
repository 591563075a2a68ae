"""The twins of emissions, in plain Python: which windows give rows in a batch. They share no code with `stream/emissions`."""

from streamproof.prove.oracle.emissions.corrections import PlainCorrections
from streamproof.prove.oracle.emissions.early import PlainEarly
from streamproof.prove.oracle.emissions.emission import Given, PlainEmission
from streamproof.prove.oracle.emissions.final import PlainFinal


def emission_of(name: str, lateness_us: int) -> PlainEmission:
    """The twin of what was asked for, for one run.

    Parameters
    ----------
    lateness_us
        The allowed lateness of its windows, microseconds.
    """
    match name:
        case "final":
            return PlainFinal()
        case "early":
            return PlainEarly()
        case "corrections":
            return PlainCorrections(lateness_us)
    raise ValueError(f"no twin of the emission {name}")


__all__ = ["Given", "PlainCorrections", "PlainEarly", "PlainEmission", "PlainFinal", "emission_of"]
