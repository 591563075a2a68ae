"""Services in a proof: started by the lab, one place in them for each scenario, read afterwards as if they were folders of files."""

from streamproof.prove.outside.services import Outside, needed

__all__ = ["Outside", "needed"]
