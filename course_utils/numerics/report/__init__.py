"""Findings, the report and the reproducer."""
