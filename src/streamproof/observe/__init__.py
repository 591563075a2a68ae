"""What a run can be watched by: metrics, the alerts and dashboards that are made of them, and the endpoint that shows them.

Run events are the one source. A metric is defined once, in `metrics/`, with its unit, its meaning, when it is bad and what to do then.
"""
