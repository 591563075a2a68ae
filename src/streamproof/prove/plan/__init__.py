"""Which scenarios a proof tries: crashes at durable steps, live crashes, faults."""
