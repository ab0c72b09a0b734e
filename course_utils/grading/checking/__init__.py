"""The checks' process: runs check cells outside the student's process and decides the points."""
