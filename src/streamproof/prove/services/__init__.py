"""Services in a proof: started by the lab, one place in them for each scenario, read afterwards as if they were folders of files."""

from streamproof.prove.services.services import Services, needed

__all__ = ["Services", "needed"]
