"""A job computed once, as a batch, over what its sources hold now."""
