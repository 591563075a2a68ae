"""Recordings of a run's durable steps, and the crash images made from them (PROTOCOL R16-R20).

`journal` reads what the recording filesystem wrote, `steps` names it, `images`, `cuts` and `deaths` plan the disks that a crash
can leave, `build` makes one of them, `live` says how to crash a new run at the same step.
"""
