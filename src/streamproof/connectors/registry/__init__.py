"""Schemas by their ids: Confluent's registry and wire format, for Avro, JSON Schema and Protobuf (C1, C2)."""
