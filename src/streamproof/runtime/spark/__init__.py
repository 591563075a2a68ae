"""The Spark that a job runs on: its session, its settings, its jars, and what it says when it fails."""
