"""Calls to an API without transactions: each with an idempotency key, and a ledger of what became of it (K5)."""
