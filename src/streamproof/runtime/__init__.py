"""Running a job: binding, the five phases of a batch, manifests and ledgers, side outputs, the account."""
