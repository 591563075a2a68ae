"""Writing checkpoints: a new one is made beside the old one, which stays as it is, and is looked at before it has its name."""
