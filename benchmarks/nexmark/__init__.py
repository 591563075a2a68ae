"""Nexmark for Structured Streaming: each query as a job of ours and as hand-written PySpark, compared row by row and measured side by side.

    python -m benchmarks.nexmark                    all queries: rows compared, then time per event
    python -m benchmarks.nexmark q1 q5 --compare    rows of these two alone
    python -m benchmarks.nexmark --write docs/reference/nexmark.md

docs/reference/nexmark.md says what is measured and how.
"""
