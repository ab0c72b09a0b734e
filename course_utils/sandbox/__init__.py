"""The student's process: shut in, started quickly, ended for good; what goes over the line to it is plain data."""
