"""Coverage: which layer inputs, parameter values and layer sequences have been executed, and of how many."""
