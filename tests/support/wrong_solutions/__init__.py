"""Plausible wrong solutions of the exercises: each must lose points of its task, and of no other."""
