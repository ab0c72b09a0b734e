"""The right answer in higher precision, and how far an honest device may be from it."""
