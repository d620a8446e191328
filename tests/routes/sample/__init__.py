"""A library in miniature, for the observer of branches."""
