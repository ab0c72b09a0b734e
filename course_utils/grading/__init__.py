"""Grade a class: read what students handed in, run it in a sandbox, compare outside it, write nbgrader's gradebook.

The rooms, from the file to the grade; docs/grading.md says what all this promises:

- `reading`: what is the student's in a file, a folder or a learning platform's zip;
- `assignment`: the instructor's notebook, taken apart into student's cells, given cells and checks;
- `isolation`: the student's process, and the plain data that go in and out;
- `checking`: the checks' process, which decides;
- `limits`, `result`: what a submission may take, and what it earned;
- `running`: many submissions, here or on several machines;
- `books`, `pages`: where the results go, `result_files` their names;
- `releasing`: what students get, and what must not be in it.
"""
