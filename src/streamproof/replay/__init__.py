"""What is computed a second time, and held against the first: two outputs side by side."""
