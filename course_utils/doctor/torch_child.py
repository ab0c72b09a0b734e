"""Import torch and try its devices, in a subprocess that may crash; `torch_probe` starts this as a script.

Each step's answer is written at once, one JSON object a line, so that what came before a crash is kept. Before torch
only the standard library is imported. Arguments: the file to write, and the folder that holds `course_utils`.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any


def first_line(error: BaseException) -> str:
    """Shorten an error to its type and first line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def look_at_torch(report: Any, course_folder: str) -> None:
    """Import torch, ask it what it offers, and compute on it.

    Args:
        report: takes a dictionary of what was just found; its keys are fields of `Snapshot`.
        course_folder: the folder that holds `course_utils`.
    """
    try:
        place = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        place = None
    report({"step": "import torch", "torch_file": place.origin if place is not None else None})
    try:
        import torch
    except ModuleNotFoundError as error:
        missing = error.name == "torch"
        report({"torch_import": "missing" if missing else "raised", "torch_error": first_line(error)})
        return
    except BaseException as error:  # also SystemExit, which a stand-in for torch may raise
        report({"torch_import": "raised", "torch_error": first_line(error)})
        return
    found = {"torch_import": "ok", "torch_version": str(getattr(torch, "__version__", "")) or None}
    if not hasattr(torch, "Tensor"):
        report(found | {"torch_import": "raised", "torch_error": "the module named torch holds no Tensor"})
        return
    report(found | {"torch_cuda": getattr(torch.version, "cuda", None) or "none"})

    report({"step": "ask for MPS"})
    # torch.backends.mps: torch 1.12; torch.mps.is_available is younger and not needed
    mps = getattr(torch.backends, "mps", None)
    built = bool(mps is not None and mps.is_built())
    available = bool(mps is not None and mps.is_available())
    report({"mps_built": built, "mps_available": available})
    if built and not available:
        try:
            torch.zeros(1, device="mps")
        except Exception as error:
            report({"mps_message": first_line(error)})

    sys.path.append(course_folder)
    from course_utils.devices import probe as device_probe

    report({"step": "compute on MPS"})
    if mps is not None:
        probe = device_probe.probe_mps()
        report({"mps_state": probe.state, "mps_reason": probe.reason})
    if mps is not None and available and hasattr(mps, "get_name"):  # torch 2.9
        report({"gpu": str(mps.get_name())})
    report({"step": "compute on CUDA"})
    probe = device_probe.probe_cuda()
    report({"cuda_state": probe.state, "cuda_reason": probe.reason})
    if probe.state == "usable" and not available:
        report({"gpu": torch.cuda.get_device_name()})
    report({"step": "done"})


def main() -> None:
    """Write what `look_at_torch` finds."""
    path, course_folder = sys.argv[1:3]
    with open(path, "w", encoding="utf-8") as file:

        def report(found: dict[str, object]) -> None:
            file.write(json.dumps(found) + "\n")
            file.flush()

        look_at_torch(report, course_folder)


if __name__ == "__main__":
    main()
