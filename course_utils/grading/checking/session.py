"""One submission's life: which process it has, what ran in it, and which names the checks see of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from course_utils.grading.assignment import Assignment, Kind, Part, bound_names
from course_utils.grading.checking.student_client import BrokenFunction, StudentClient, StudentFunction
from course_utils.grading.checking.tampering import DIGEST, IDENTITIES, WATCHED, find_changes
from course_utils.sandbox.connection import Connection, StudentGone
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.reason import Ending


class Session:
    """Runs the cells of one submission in a student's process, replaced whenever it ends.

    Args:
        assignment: the exercise.
        code: the student's cells, grade id -> source.
        limits: what the submission may take.
        start: starts a process.
        forked: whether processes are forks of one template, so that identities can be compared.
        untouched: what the measuring functions look like in a process without student code.
    """

    def __init__(
        self,
        assignment: Assignment,
        code: Mapping[str, str],
        limits: Limits,
        start: Callable[[Limits], Connection],
        *,
        forked: bool,
        untouched: dict[str, str],
    ) -> None:
        self.assignment = assignment
        self.code = code
        self.limits = limits
        self.start = start
        self.forked = forked
        self.untouched = untouched
        self.deadline = time.monotonic() + limits.submission_s
        self.names: dict[str, Any] = {"__name__": "exercise", "__builtins__": __builtins__}
        self.measured_inside = False
        self.measured_inside_now = False
        self.errors: dict[str, Exception] = {}
        self._given_names: dict[str, Any] = {}
        self._identities: dict[str, Any] = {}
        self._connection: Connection | None = None
        self._client: StudentClient | None = None
        # the student's cell in which the last process ended, when it was not in a check
        self.ended_in: str | None = None
        self._left_out: set[str] = set()

    def client(self) -> StudentClient:
        """Return the client of the student's process.

        Raises:
            StudentGone: when there is none any more.
        """
        if self._client is None:
            raise StudentGone(Ending.CRASHED, "the process of your code had ended before")
        return self._client

    def begin_task(self, check: Part) -> None:
        """Have a process in which everything above a check cell has run, with the task's time ahead.

        Raises:
            StudentGone: when a cell ends the process or takes too long.
        """
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise StudentGone(Ending.TIMEOUT, f"all tasks together took more than {self.limits.submission_s:g} s")
        above = self.assignment.parts[: self.assignment.parts.index(check)]
        ran = self._connection is not None
        if self._connection is None:
            self._connection = self.start(self.limits)
            self._client = StudentClient(self._connection, self.limits, self._given_names)
        self._connection.start_clock(min(self.limits.task_s, left_s))
        self.measured_inside = False
        self.ended_in = None
        earlier = [place for place, part in enumerate(above) if part.kind is Kind.CHECK]
        # a new process runs everything again; one that lives goes on below the last check
        first = earlier[-1] + 1 if ran and earlier else 0
        for place, part in enumerate(above):
            if part.kind in (Kind.STUDENT, Kind.TOOLS) and place >= first:
                self._run(part, given=part.kind is Kind.TOOLS)

    @property
    def running(self) -> bool:
        """Whether there is a process; without one the next task gets a new one."""
        return self._connection is not None

    def printed(self) -> str:
        """Return the end of what the student's code printed in this task."""
        return self._connection.take_printed() if self._connection is not None else ""

    def show_output(self, show: bool) -> None:
        """Show what is printed from now on, or hide it: functions print what hidden checks hand to them."""
        if self._connection is not None:
            self._connection.keep_output(show)

    def find_tampering(self) -> tuple[str, ...]:
        """Return what was changed of the functions that measure, where a marked helper was used."""
        if not self.measured_inside or not self.untouched:
            return ()
        try:
            changed = find_changes(self.untouched, self.client().compute(DIGEST, [self.forked, list(WATCHED)]))
            held = self.client().compute(IDENTITIES, list(self._identities))
            return changed + tuple(name for name, who in self._identities.items() if held.get(name) != who)
        except Exception as error:
            return (f"the answer itself ({type(error).__name__})",)

    def leave_out(self, grade_ids: set[str]) -> None:
        """Run without these cells of the student from now on, in a new process."""
        self.drop_process()
        self._left_out |= grade_ids

    def drop_process(self) -> None:
        """End the student's process; the next task gets a new one."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._client = None
        self._identities.clear()

    def _run(self, part: Part, *, given: bool) -> None:
        """Run a cell in the student's process, and what is given on this side, too."""
        source = part.source if given else self.code.get(part.grade_id)
        wanted = sorted(bound_names(part.source))
        if source is None or part.grade_id in self._left_out:
            self._hold_broken(wanted, NameError(f"the cell {part.grade_id} is not there"))
            return
        try:
            answer = self.client().run(source, wanted, given=given)
        except StudentGone:
            self.ended_in = part.grade_id
            raise
        if given:
            self._run_here(part, wanted)
            if wanted and self.untouched:
                self._identities |= self._read_identities(wanted)
        else:
            self._hold(part.grade_id, wanted, answer)

    def _run_here(self, part: Part, wanted: list[str]) -> None:
        """Run a given cell on this side; its marked helpers become stand-ins."""
        try:
            exec(compile(part.source, f"<{part.grade_id}>", "exec"), self.names)
        except Exception as error:  # it may call the student's functions
            self.errors[part.grade_id] = error
        for name in wanted:
            thing = self.names.get(name)
            if hasattr(thing, "__in_student_process__"):
                self.names[name] = StudentFunction(name, self._client_inside)
            elif thing is not None:
                self._given_names[name] = thing

    def _read_identities(self, names: list[str]) -> dict[str, Any]:
        """Ask which objects the names of a given cell are, just after it ran."""
        with suppress(Exception):
            held = self.client().compute(IDENTITIES, names)
            return held if type(held) is dict else {}
        return {}

    def _client_inside(self) -> StudentClient:
        self.measured_inside = self.measured_inside_now = True
        return self.client()

    def _hold(self, grade_id: str, wanted: list[str], answer: dict[str, Any]) -> None:
        """Keep stand-ins for what the student's cell should define."""
        self.errors.pop(grade_id, None)
        if answer["error"] is not None:
            self.errors[grade_id] = answer["error"]
        for name in wanted:
            kind = answer["names"].get(name)
            if kind == "callable":
                self.names[name] = StudentFunction(name, self.client)
            elif kind == "value":
                self._hold_value(name)
            else:
                error = answer["error"] or NameError(f"name '{name}' is not defined by your cell")
                self._hold_broken([name], error)

    def _hold_value(self, name: str) -> None:
        try:
            self.names[name] = self.client().value(name)
        except Exception as error:  # whatever a student's value does when it is read
            self._hold_broken([name], error)

    def _hold_broken(self, names: list[str], error: Exception) -> None:
        for name in names:
            self.names[name] = BrokenFunction(name, self.client, error)
