"""What people look at: a page for each student, an overview of the class."""
