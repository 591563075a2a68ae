"""The steps of a start: validate, recover, plan, launch; each gives a value to the next."""
