"""The shell in which `course check` and the grader run cells: IPython's, without a kernel."""

from __future__ import annotations

import builtins
import sys
from typing import Any


def refuse_input(prompt: object = "") -> str:
    """Stand in for `input`: nobody types anything here.

    Raises:
        EOFError: always, at once.
    """
    raise EOFError("input() has nothing to read when a notebook is graded; give the value to the function instead")


def make_shell() -> Any:
    """Make the shell that runs cells, as a Jupyter kernel has it, without a history file and without threads."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class CellShell(InteractiveShell):
        def enable_gui(self, gui: str | None = None) -> None:
            """Accept `%matplotlib inline`; there is no window here."""

    builtins.input = refuse_input
    if "" not in sys.path:
        # as in a kernel, a file that a cell writes can be imported; last, so that it never hides a library
        sys.path.append("")
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Plain"
    return CellShell.instance(config=config)
