"""Where scores go: nbgrader's gradebook and folders, a file for Canvas."""
