"""The campaign: strategy, executor, oracles and store, joined by a stream of events."""
