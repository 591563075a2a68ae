"""What a run says while it runs, and what it notices about its sources."""
