"""What students get: exercises that were examined, an archive that was searched."""
