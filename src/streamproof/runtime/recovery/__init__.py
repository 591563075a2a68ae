"""Before a query starts: is what earlier runs have left whole, and does it belong to this job."""
