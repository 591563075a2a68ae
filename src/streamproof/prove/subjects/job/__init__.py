"""A job of ours: bound by configuration, read back by ledgers, judged by the plain model and the batch query."""
