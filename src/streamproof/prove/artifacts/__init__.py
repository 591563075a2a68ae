"""What a run has left behind, read and compared."""
