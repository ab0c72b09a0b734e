"""Read nbgrader's gradebook with nbgrader's own code."""

from __future__ import annotations

from course_utils.grading.books.database_url import read_address
from course_utils.grading.books.gradebook import COURSE_ID
from course_utils.grading.books.nbgrader_api import load_api
from support.graded_results import NAME


def gradebook(url):
    """Open a gradebook as nbgrader does."""
    return load_api().Gradebook(read_address(url).render_as_string(hide_password=False), COURSE_ID)


def grades_of(url, assignment):
    """Return auto score, manual score and needs_manual_grade, by student and cell."""
    with gradebook(url) as book:
        return {
            submission.student.id: {
                grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in book.assignment_submissions(assignment)
        }


def auto_scores(url, assignment):
    """Return the automatic scores, by student and cell."""
    found = grades_of(url, assignment)
    return {student: {name: row[0] for name, row in grades.items()} for student, grades in found.items()}


def structure_of(url, assignment):
    """Return what a gradebook holds of an exercise: cells of each kind, sources, kernel, course."""
    with gradebook(url) as book:
        notebook = book.find_notebook(assignment, assignment)
        return {
            "course": notebook.assignment.course_id,
            "kernel": notebook.kernelspec,
            "graded": {cell.name: (cell.max_score, cell.cell_type) for cell in notebook.grade_cells},
            "solutions": {cell.name for cell in notebook.solution_cells},
            "tasks": {cell.name: (cell.max_score, cell.cell_type) for cell in notebook.task_cells},
            "sources": {
                cell.name: (cell.cell_type, cell.locked, cell.source, cell.checksum) for cell in notebook.source_cells
            },
        }


def enter_by_hand(url, student, cell, score, comment="", name=NAME):
    """Do what formgrader does when a person enters a score and a comment, and marks them as looked at."""
    with gradebook(url) as book:
        grade = book.find_grade(cell, name, name, student)
        grade.manual_score = score
        grade.needs_manual_grade = False
        if comment:
            book.find_comment(cell.removesuffix("-check"), name, name, student).manual_comment = comment
        book.db.commit()
