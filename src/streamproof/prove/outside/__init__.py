"""Services in a proof: started by the lab, one place in them for each scenario, read afterwards as if they were folders of files."""

from streamproof.prove.outside.services import Outside, needed, services_of

__all__ = ["Outside", "needed", "services_of"]
