"""The clock over reading and comparing: a slow answer ends its own check, in any thread, and nothing else."""

import threading

from support import small_exercise
from support.sandbox_here import needs_sandbox
from support.small_exercise import code_cell

from course_utils.grading.checking.answer_clock import AnswerClock, AnswerTooSlowError
from course_utils.grading.checking.engine import Grader
from course_utils.grading.reading.submission import Submission
from course_utils.sandbox.limits import Limits

CHECK = """
def all_pairs(numbers):
    return sum(a < b for a in numbers for b in numbers)

task = Task("pairs", points=3)
task.check("of three", yours=lambda: all_pairs(numbers(3)), expected=3)
task.check("of four", yours=lambda: all_pairs(numbers(4)), expected=6)
task.check("of five", yours=lambda: all_pairs(numbers(5)), expected=10)
task.score()
"""


def work_for_ever():
    """Work until something ends it."""
    while True:
        sum(range(100))


def ended_by_the_clock(clock):
    """Start the clock, work, and return whether it ended the work."""
    clock.start(0.01)
    try:
        work_for_ever()
    except AnswerTooSlowError:
        clock.stop()
        return True
    return False


def test_it_ends_work_in_any_thread():
    """The thread that started the clock is ended, the first or another, again and again."""
    found = [ended_by_the_clock(clock) for clock in [AnswerClock()] * 2]
    other = threading.Thread(target=lambda: found.append(ended_by_the_clock(AnswerClock())))
    other.start()
    other.join(60)

    assert found == [True, True, True]


def test_a_stopped_clock_ends_nothing():
    """What is stopped in time, or just as the time is over, raises nothing later."""
    clock = AnswerClock()
    for _ in range(100):
        try:
            clock.start(0.0005)
            sum(range(20_000))
            clock.stop()
        except AnswerTooSlowError:
            clock.stop()  # it arrived before it could be taken back
        sum(range(1000))
    sum(range(100_000))

    assert clock.running is False


@needs_sandbox
def test_a_slow_answer_fails_its_own_check():
    """An answer with which comparing would take minutes fails one check; the others of its task count."""
    cells = (
        code_cell("setup", "from course_utils import Task"),
        code_cell("numbers", "def numbers(n):\n    return list(range(n))", solution=True),
        code_cell("numbers-check", CHECK, grade=True, points=3),
    )
    slow = "def numbers(n):\n    return list(range(10 ** 5)) if n == 4 else list(range(n))"
    with Grader(small_exercise.assignment(list(cells)), Limits(task_s=6)) as grader:
        (task,) = grader.grade(Submission("ada", {"numbers": slow})).tasks

    assert [check.passed for check in task.checks] == [True, False, True], task
    assert (task.points, str(task.reason)) == (2, "raised")
