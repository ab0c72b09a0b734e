"""A timing: how to take it, how to draw it, and the models and operations that are measured."""
