"""Oracles: each reads a trial and yields findings. One small file each."""
