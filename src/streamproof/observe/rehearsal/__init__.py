"""Which alerts a run raises, without a Prometheus: samples of its metrics as they are scraped, and the conditions of the alerts over them."""
