"""nbgrader's settings: solutions/ is the source, exercises/ is what students get.

Plain nbgrader works with them, from the course's root:

    nbgrader generate_assignment 04_measuring_time --force
    nbgrader autograde 04_measuring_time
    nbgrader generate_feedback 04_measuring_time
"""

from course_utils.grading.releasing.explanations import LeaveOutExplanations

c = get_config()  # type: ignore[name-defined]  # noqa: F821

c.CourseDirectory.course_id = "pytorch-apple-silicon"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"

# each task raises NotImplementedError with its own name, below the solution
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE"}

# what explains a solution is for `course solution`, not for a release
c.GenerateAssignment.preprocessors.prepend([LeaveOutExplanations])

# a cell tagged skip-execution gives no output, and nbgrader 0.9 gives full marks for no output
c.ExecutePreprocessor.skip_cells_with_tag = ""

# seconds for one cell; loading torch alone can take ten on a busy server
c.ExecutePreprocessor.timeout = 120
# an exercise is done when its cells are, not when the last plot arrived
c.ExecutePreprocessor.iopub_timeout = 20
