"""What `check` looks at before anything runs."""
