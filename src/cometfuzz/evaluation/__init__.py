"""The paper's experiments, made anew with our own numbers beside the published ones; one module for each question."""
