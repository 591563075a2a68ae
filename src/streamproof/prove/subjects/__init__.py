"""What is proved. A subject binds the scenario's events to its inputs, starts in a child, and brings the oracles that it can have."""
