"""The scenario of a proof: its description, the events that a seed makes of it, and how they are written."""
