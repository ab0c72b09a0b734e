"""Grade a class: read what students handed in, run it in a sandbox, compare outside it, write nbgrader's gradebook.

The parts, from the file to the grade:

- `handed_in`, `owners`, `collect`: who handed in what, in a folder or a learning platform's zip;
- `notebook_bytes`, `submission`: what is the student's in a file;
- `assignment`: the instructor's notebook, taken apart into student's cells, tools and checks;
- `wire`, `student`, `driver`: the student's process, the checks' process, and the plain data between them;
- `sandbox`, `namespaces`, `template`: where the student's process lives, and how it starts quickly;
- `result`: what one submission earned; plain data;
- `job`, `worker`, `pool`, `cluster`: one submission as bytes in and a line of JSON out, here or on several machines;
- `batch`, `store`, `report`: a class, its results folder and its report;
- `outlets`, `gradebook`, `feedback`, `overview`, `canvas`: where the results go.
"""
