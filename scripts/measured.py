"""Check what readers measured, and make the page that shows it.

    python scripts/measured.py               # checks every file in measured/
    python scripts/measured.py FILE...       # checks these files, by the names that they have
    python scripts/measured.py --page        # prints the page, which `make site` has where there is a file

Exit code 0 when all files are fit, 1 when one is refused, each with every reason, 2 when there is none.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from course_utils.benchmarking.contribution import added, copied, objections, private
from course_utils.benchmarking.document import BenchDocument, DocumentError, read_document
from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.reporting.units import format_duration

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "measured"
LARGEST_BYTES = 2**20
# a file's document, where it is one, and the reasons to refuse it
Examined = tuple[BenchDocument | None, tuple[str, ...]]


def examine(path: Path, others: Mapping[Path, BenchDocument]) -> Examined:
    """Read one file; return its document, where it is one, and the reasons to refuse it.

    Args:
        path: the file.
        others: documents that were there before, by file; their readings are theirs.
    """
    try:
        if path.stat().st_size > LARGEST_BYTES:
            return None, (f"it has more than {LARGEST_BYTES // 2**20} MiB, thirty times what a sweep needs",)
        text = path.read_text(encoding="utf-8")
        document = read_document(text)
    except OSError as error:
        return None, (f"it cannot be read: {error.strerror}",)
    except (DocumentError, UnicodeDecodeError) as error:
        return None, (f"it is not a document of `course bench`: {error}",)
    data = json.loads(text)
    extra = sorted(set(added(data, json.loads(document.to_json()))))
    unknown = [f"{name!r} is nothing that `course bench` writes; take it out" for name in extra]
    taken = [
        f"{', '.join(times)}: every reading is one of {file.name}, and no two runs have the same"
        for file, other in others.items()
        if (times := copied(document, other))
    ]
    return document, tuple(dict.fromkeys([*unknown, *objections(document, path.name), *private(data), *taken]))


def examine_all(paths: Sequence[Path]) -> dict[Path, Examined]:
    """Read files one after the other: readings belong to the fit file of measured/ that has them, else to the first."""
    elsewhere = any(path.resolve().parent != MEASURED.resolve() for path in paths)
    shared = fit_in({path: examine(path, {}) for path in sorted(MEASURED.glob("*.json"))}) if elsewhere else {}
    found: dict[Path, Examined] = {}
    for path in paths:
        others = {file: document for file, document in shared.items() if file.resolve() != path.resolve()}
        found[path] = examine(path, others | fit_in(found))
    return found


def fit_in(examined: Mapping[Path, Examined]) -> dict[Path, BenchDocument]:
    """Return the documents that there is no reason to refuse."""
    return {path: document for path, (document, reasons) in examined.items() if document is not None and not reasons}


def fit_documents(folder: Path) -> list[BenchDocument]:
    """Return what the files of a folder say, in the order of their names; without those that are refused."""
    return list(fit_in(examine_all(sorted(folder.glob("*.json")))).values())


def crossing(document: BenchDocument, device: str) -> str:
    """Return from which size on a device is faster than the CPU in a sweep of products, in words."""
    rows = [
        (int(comparison.label.rpartition("x")[2]), comparison.speedup(device))
        for comparison in document.comparisons
        if comparison.label.startswith("Matrix product ")
    ]
    sizes = sorted((size, ratio) for size, ratio in rows if ratio is not None)
    if len(sizes) < 2:
        return "-"
    slower = [size for size, ratio in sizes if ratio <= 1]
    faster = [size for size, ratio in sizes if ratio > 1 and size > max(slower, default=0)]
    return f"from {faster[0]} on" if faster else f"not up to {sizes[-1][0]}"


def _time(timing: Timing | None) -> str:
    return "-" if timing is None else f"{format_duration(timing.median_s)} (IQR {format_duration(timing.iqr_s)})"


def _device(comparison: Comparison) -> str:
    return next((timing.device.split(":")[0] for timing in comparison.timings if timing.device != "cpu"), "")


def page(documents: Sequence[BenchDocument]) -> str:
    """Return the page about readers' machines in Markdown: who is faster from which size on, then every time."""
    lines = [
        "# What readers measured",
        "",
        "Each row is one machine and one torch, measured by a reader with `course bench --sweep --save` and checked",
        "against the chip's published peak, the spread of the readings and the probe of the device. Your own can stand",
        "here too: [send what your Mac measured](docs/send_measurements.md).",
        "",
        "| machine | system | torch | GPU faster than the CPU at a matrix product |",
        "|---|---|---|---|",
    ]
    for document in documents:
        kinds = sorted({_device(comparison) for comparison in document.comparisons} - {""})
        words = "; ".join(f"{kind}: {crossing(document, kind)}" for kind in kinds) or "has none that torch uses"
        machine = document.machine
        name = machine.get("chip") or f"{machine['cores']} CPU cores"
        lines.append(f"| {name} | {machine['system']} | {machine['torch_version']} | {words} |")
    labels = list(dict.fromkeys(comparison.label for document in documents for comparison in document.comparisons))
    for label in labels:
        lines += ["", f"## {label}", "", "| machine | CPU | GPU | times as fast |", "|---|---|---|---|"]
        for document in documents:
            for comparison in document.comparisons:
                if comparison.label == label:
                    device = _device(comparison)
                    ratio = comparison.speedup(device) if device else None
                    gpu = f"{device}: {_time(comparison.on(device))}" if device else "-"
                    speed = "-" if ratio is None else f"{ratio:.2f}"
                    lines.append(f"| {document.name} | {_time(comparison.on('cpu'))} | {gpu} | {speed} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files.

    Returns:
        0 when all are fit, 1 when one is refused, 2 when there is none.
    """
    parser = argparse.ArgumentParser(description="Check what readers measured.")
    parser.add_argument("files", nargs="*", type=Path, help="files to check (default: all of measured/)")
    parser.add_argument("--page", action="store_true", help="print the page")
    chosen = parser.parse_args(arguments)
    files = chosen.files or sorted(MEASURED.glob("*.json"))
    if not files:
        print(f"there is no file in {MEASURED}", file=sys.stderr)
        return 2
    examined = examine_all(files)
    for path, (_, reasons) in examined.items():
        print(f"{path.name}: {'refused' if reasons else 'fit'}", *reasons, sep="\n  ", file=sys.stderr)
    if chosen.page:
        print(page(list(fit_in(examined).values())), end="")
    return 1 if any(reasons for _, reasons in examined.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
