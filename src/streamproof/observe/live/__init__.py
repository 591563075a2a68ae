"""The live page: what a run does now, in a browser, while it does it.

`picture.py` folds the events of a run into one value, `standing.py` says in one word how the job is, `shown.py` makes plain values of both, and
`server.py` serves them. The server knows no event: whatever gives it plain values can have a page.
"""
