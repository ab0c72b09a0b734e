"""Grade a class: read what students handed in, run it in a sandbox, compare outside it, write nbgrader's gradebook.

The parts, from the file to the grade:

- `submission`, `collect`: what is the student's in a file, a folder or a learning platform's zip;
- `assignment`: the instructor's notebook, taken apart into student's cells, tools and checks;
- `wire`, `student`, `driver`: the student's process, the checks' process, and the plain data between them;
- `sandbox`, `namespaces`, `template`: where the student's process lives, and how it starts quickly;
- `result`: what one submission earned; plain data;
- `batch`, `cluster`: many submissions, here or on several machines;
- `gradebook`, `feedback`, `overview`, `canvas`: where the results go.
"""
