"""The command line: parsing and wiring only. Nothing here imports PySpark, pydantic or the proof before a command needs it."""
