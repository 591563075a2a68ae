"""From a configuration to a job that can run: its function, its outputs, and where each of them goes."""
