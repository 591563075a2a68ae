"""Metrics and traces of a run as OpenTelemetry has them, sent to a collector by OTLP: `run --otel`."""
