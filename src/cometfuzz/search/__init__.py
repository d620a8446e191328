"""Search: what to generate next. A Strategy proposes cases and learns from what became of them."""
