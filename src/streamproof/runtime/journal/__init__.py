"""What a query keeps beside its checkpoint: manifests, logs, losses, what is published."""
