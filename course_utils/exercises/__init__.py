"""What an exercise is: running its visible checks, progress, and the file to hand in."""
