"""Operators: functions of keras.ops, by family as in the catalogue."""
