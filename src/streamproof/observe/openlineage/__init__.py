"""OpenLineage: what each query reads and writes, and how its run goes, for catalogues such as Marquez or DataHub."""
