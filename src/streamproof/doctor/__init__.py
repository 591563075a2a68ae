"""What is found by looking at data and jobs as they are: how far events are out of order, and which delay fits."""
