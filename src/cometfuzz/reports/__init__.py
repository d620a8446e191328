"""Reports: handlers and readers of a campaign's events."""
