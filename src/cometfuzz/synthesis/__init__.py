"""Synthesis: a small model that covers what a large one covers (the paper, section 3.4)."""
