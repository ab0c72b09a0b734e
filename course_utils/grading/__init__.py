"""Grade a class: read what students handed in, run it in a sandbox, compare outside it, write nbgrader's gradebook.

From the file to the grade; docs/grading.md says what all this promises:

- `reading`: what is the student's in a file, a folder or a learning platform's zip; a `Submission` for each student;
- `assignment`, `course`: the instructor's notebook, taken apart, and all else that submissions of one exercise share;
- `checking`: the checks' process, which decides;
- `result`: what a submission earned, and why;
- `running`: many submissions, here or on several machines; what changed is graded, and each result is stored;
- `sinks`: where results go as soon as they are there: `books` (gradebook, formgrader's notebooks, Canvas) and `pages`;
- `by_hand`, `delivered`, `counted_results`, `lateness`: points and comments that a person gave, and what changed since;
- `releasing`: what students get, and what must not be in it.
"""
