"""The state of a failing scenario: what was in it at the crash, and what is in it after the recovery, side by side."""
