"""Augmentations have no meaning of their own: in inference they are what `regularising.unchanged` says."""
