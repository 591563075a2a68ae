"""Sources in a proof: the events of a scenario are written where each can read them, and it is bound to them."""

from streamproof.prove.sources.kinds import proved

__all__ = ["proved"]
