"""What the text of a Python file says of a streaming job: nothing of it is run."""
