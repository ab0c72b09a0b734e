"""JupyterLab in a browser as students and instructors have it: a copy of the course, a server on loopback, a page."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from support.listening import address_of
from support.paths import ROOT

# for what the page does by itself, and for all cells of a lesson, milliseconds
SOON_MS, CELLS_MS = 60_000, 240_000
STUDENTS_FOLDERS = ("course_utils", "exercises", "notebooks")

# JupyterLab puts "[*]:" before a cell that waits or runs, and its number when it is done
_STARTED = "[...document.querySelectorAll('.jp-InputPrompt')].some(one => /\\d|\\*/.test(one.textContent))"
_DONE = "[...document.querySelectorAll('.jp-InputPrompt')].every(one => !one.textContent.includes('*'))"
# how many colours an image has, as it is drawn on the page; 0 before it is loaded
_COLOURS = """image => {
    if (!image.complete || !image.naturalWidth) return 0;
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
}"""


def copy_course(target, folders=STUDENTS_FOLDERS):
    """Copy the course without what runs and tests left behind; return the copy."""
    for name in folders:
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    shutil.copy(ROOT / "nbgrader_config.py", target)
    return target


def surroundings(course, home):
    """Return the environment of a person who has this copy of the course, and no settings of this machine's."""
    kept = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime"}
    folders = {name: str(home / folder) for name, folder in (kept | {"IPYTHONDIR": "ipython"}).items()}
    # nbgrader calls alembic by name
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | folders | {"PYTHONPATH": str(course), "PATH": path, "OMP_NUM_THREADS": "1"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def course_lab(course, home, *words):
    """Start `course lab` in a folder; yield the address that it prints and its log, and end all that it started."""
    command = [sys.executable, "-m", "course_utils.cli", "lab", *words, "--no-browser", f"--port={free_port()}"]
    with started(command, course, surroundings(course, home), home) as address_and_log:
        yield address_and_log


@contextmanager
def pasted(commands, folder, environment, home):
    """Run commands as somebody who pastes them into a terminal, the last of which opens JupyterLab; yield as above.

    Args:
        commands: lines of shell.
        folder: where the terminal is.
        environment: its variables.
        home: a folder for the log.
    """
    # a browser that opens nothing, and a port that is free: the commands stay as they are
    settings = {"BROWSER": "true", "JUPYTER_PORT": str(free_port())}
    with started(["sh", "-ec", "\n".join(commands)], folder, environment | settings, home) as address_and_log:
        yield address_and_log


@contextmanager
def started(command, folder, environment, home):
    """Start what becomes a Jupyter server; yield the address that it prints and its log, and end all of it."""
    log_path = home / "log"
    with log_path.open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            yield address_of(server, partial(printed_address, log_path), log_path), log_path
        finally:
            # a kernel leads a process group of its own, and the server ends it when it is asked to end
            end_group(server, signal.SIGTERM)
            try:
                server.wait(timeout=30)
            except subprocess.TimeoutExpired:
                end_group(server, signal.SIGKILL)
                server.wait()


def end_group(server, signal_number):
    """Send a signal to what a shell, make and the server are; where all of it has ended there is nothing to do."""
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal_number)


def printed_address(log_path):
    """Return the address to open that a server has printed; None before."""
    found = re.search(r"http://localhost:\S+token=\w+", log_path.read_text(encoding="utf-8"))
    return found and found.group()


@contextmanager
def open_page(browser, address, **options):
    """Open a page that may reach its own server and nothing else; yield it, and the requests that were refused."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
    refused = []

    def refuse(route):
        refused.append(route.request.url)
        route.abort()

    own = urlsplit(address).port
    context.route(lambda url: urlsplit(url).port != own and not url.startswith(("data:", "blob:")), refuse)
    page = context.new_page()
    page.set_default_timeout(SOON_MS)
    try:
        yield page, refused
    finally:
        context.close()


def wait_for_kernel(page):
    """Wait until the open notebook has a kernel, as the status bar says."""
    page.locator(".jp-StatusBar-Widget").get_by_text(re.compile(r"\| Idle$")).wait_for()


def decline_news(page):
    """Answer the question that JupyterLab asks at its first start."""
    question = page.locator(".Toastify__toast", has_text="notified about official Jupyter news")
    question.get_by_text("No", exact=True).click()
    question.wait_for(state="detached")


def open_first_notebook(page, address):
    """Open the notebook that a new JupyterLab begins with, and wait for its kernel."""
    page.goto(address)
    wait_for_kernel(page)
    decline_news(page)


def run_all_cells(page):
    """Choose Run > Run All Cells, and wait until no cell waits or runs."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.wait_for_function(_STARTED)
    page.wait_for_function(_DONE, timeout=CELLS_MS)


def code_prompts(page):
    """Return what stands before the code cells of the notebook in front, without those that are folded.

    The text is as it is, for the browser renders only what is in view.
    """
    cells = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell")
    return cells.locator(".jp-InputPrompt:not(.jp-Placeholder-prompt)").all_text_contents()


def errors_shown(page):
    """Return what the notebook in front shows of errors and of what its code wrote to stderr."""
    # JupyterLab 4.6 shows both under this type; an error has none of its own there
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) [data-mime-type='application/vnd.jupyter.stderr']")
    return shown.all_text_contents()


def code_cell(page, text):
    """Return the code cell of the notebook in front that has this text."""
    return page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell", has_text=text)


def run_cell(page, text):
    """Run one cell with Shift+Enter, and wait until it is done; return it."""
    cell = code_cell(page, text)
    cell.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    cell.locator(".jp-InputPrompt", has_text=re.compile(r"\d")).wait_for()
    return cell


def write_cell(page, text, source):
    """Write a cell anew, as somebody who pastes."""
    code_cell(page, text).locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(source)


def count_colours(image):
    """Count the colours of an image that the page shows, by drawing it again."""
    image.scroll_into_view_if_needed()
    return image.evaluate(_COLOURS)


def save_screenshot(page, name, folder):
    """Keep a picture of the page: in the folder that COURSE_SCREENSHOTS names, else in the test's own."""
    kept = Path(os.environ.get("COURSE_SCREENSHOTS") or folder)
    kept.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=kept / f"{name}.png")
