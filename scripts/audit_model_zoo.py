"""Audit every model of torchvision's zoo with one small input, and write the table in docs/audit.md.

    python scripts/audit_model_zoo.py [--only resnet18,vgg11] [--print]

Random weights, nothing downloaded. One model at a time, in a process of its own, so that memory is given back; the
largest (regnet_y_128gf, vit_h_14) need about 12 GB. Maintainers run it again for a new torch or torchvision.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from tqdm import tqdm

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "audit.md"
BEGIN, END = "<!-- zoo: begin -->", "<!-- zoo: end -->"
TASKS = ("classification", "segmentation", "detection", "video")
# one audit takes seconds on two cores; what takes this long hangs
LIMIT_S = 900


@dataclass(frozen=True)
class Row:
    """What the audits of one model found.

    Args:
        task: "classification", "segmentation", "detection" or "video".
        model: the builder's name in torchvision.
        size: the input's shape, such as "2x3x224x224".
        train: findings of a training step, or what stopped it.
        evaluation: findings of the forward pass in evaluation, or what stopped it.
    """

    task: str
    model: str
    size: str
    train: tuple[str, ...]
    evaluation: tuple[str, ...]


def models_of(task: str) -> tuple[str, ...]:
    """List torchvision's builders for one task; quantized models run on the CPU only and are left out."""
    from torchvision import models

    module = models if task == "classification" else getattr(models, task)
    return tuple(models.list_models(module=module))


def size_of(task: str, name: str) -> tuple[int, ...]:
    """Choose the smallest input that a model takes at its usual resolution."""
    if task == "video":
        return (2, 3, 16, 224, 224) if name.startswith(("mvit", "swin", "s3d")) else (2, 3, 8, 112, 112)
    if task == "classification":
        return (2, 3, 299, 299) if name == "inception_v3" else (2, 3, 224, 224)
    return (2, 3, 128, 128) if task == "segmentation" else (2, 3, 160, 160)


def build(task: str, name: str) -> Any:
    """Build a model with random weights."""
    from torchvision import models

    options: dict[str, Any] = {"weights": None}
    if task in ("detection", "segmentation"):
        options["weights_backbone"] = None
    if name in ("googlenet", "inception_v3"):
        options["init_weights"] = False  # drawing them takes longer than the audit
    if task == "detection":
        options |= {"min_size": 160, "max_size": 160} if not name.startswith("ssd") else {}
    return models.get_model(name, **options)


def inputs_of(task: str, name: str, *, train: bool) -> Any:
    """Make a batch, with targets where a training model wants them as inputs."""
    import torch

    size = size_of(task, name)
    if task != "detection":
        return torch.rand(size)
    images = list(torch.rand(size))
    if not train:
        return (images,)
    box = torch.tensor([[20.0, 20.0, 100.0, 120.0]])
    target: dict[str, Any] = {"boxes": box, "labels": torch.ones(1, dtype=torch.int64)}
    if name.startswith("maskrcnn"):
        target["masks"] = torch.ones(1, *size[2:], dtype=torch.uint8)
    if name.startswith("keypointrcnn"):
        target["keypoints"] = torch.full((1, 17, 3), 50.0)
    return images, [{key: value.clone() for key, value in target.items()} for _ in images]


def loss_for(task: str) -> Callable[[Any], Any] | None:
    """Choose the loss: cross entropy, also over pixels; detection models return their losses, which are summed."""
    if task == "detection":
        return None
    import torch
    from torch.nn import functional

    def loss(output: Any) -> Any:
        outputs = output.values() if isinstance(output, dict) else output if isinstance(output, tuple) else (output,)
        return sum(
            functional.cross_entropy(out, torch.zeros(out.shape[:1] + out.shape[2:], dtype=torch.int64).to(out.device))
            for out in outputs
            if out is not None
        )

    return loss


def findings_of(task: str, name: str, *, train: bool) -> tuple[str, ...]:
    """Audit one model in one mode; an error becomes the finding."""
    import torch

    from course_utils import audit

    torch.manual_seed(0)
    mode: Any = "train" if train else "eval"
    options: dict[str, Any] = {"optimizer": torch.optim.SGD, "loss": loss_for(task)} if train else {}
    try:
        found = audit(build(task, name), inputs_of(task, name, train=train), mode=mode, **options)
    except Exception as error:  # the table has to say what happened to each model
        return (f"no audit: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}",)
    return tuple(dict.fromkeys(f"{each.kind}: {each.name}, {each.phase}" for each in found.findings))


def audit_one(task: str, name: str) -> Row:
    """Audit one model in both modes."""
    size = "x".join(map(str, size_of(task, name)))
    return Row(task, name, size, findings_of(task, name, train=True), findings_of(task, name, train=False))


def audit_apart(task: str, name: str) -> Row:
    """Audit one model in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "--one", f"{task}/{name}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return Row(task, name, "", (f"no audit: took longer than {LIMIT_S} s",), ())
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return Row(task, name, "", (f"no audit: exit code {done.returncode}: {last}",), ())
    data = json.loads(done.stdout.splitlines()[-1])
    return Row(data["task"], data["model"], data["size"], tuple(data["train"]), tuple(data["evaluation"]))


def table(rows: Iterable[Row], versions: str) -> str:
    """Return the rows as Markdown, models with the same result together."""
    lines = [f"{versions}, {date.today().isoformat()}", ""]
    lines += ["| task | models | input | training step | evaluation |", "|---|---|---|---|---|"]
    grouped: dict[tuple[str, str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for row in rows:
        grouped.setdefault((row.task, row.size, row.train, row.evaluation), []).append(row.model)
    for (task, size, train, evaluation), names in grouped.items():
        cells = [task, ", ".join(names), size, _cell(train), _cell(evaluation)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(findings: tuple[str, ...]) -> str:
    return "<br>".join(finding.replace("|", "\\|") for finding in findings) or "clean"


def write(text: str, document: Path = DOCUMENT) -> None:
    """Write a table between the markers of a document.

    Raises:
        ValueError: when the document has no markers.
    """
    before, begin, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document} has no markers {BEGIN} and {END} to write between")
    document.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Audit the zoo and write the table."""
    parser = argparse.ArgumentParser(description="Audit torchvision's model zoo.")
    parser.add_argument("--only", metavar="NAMES", help="models, separated by commas (default: all)")
    parser.add_argument("--print", action="store_true", help="print the table instead of writing docs/audit.md")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(asdict(audit_one(*options.one.split("/")))))
        return 0
    import torch
    import torchvision

    wanted = options.only.split(",") if options.only else None
    pairs = [(task, name) for task in TASKS for name in models_of(task) if wanted is None or name in wanted]
    rows = [audit_apart(*pair) for pair in tqdm(pairs, unit="model", disable=not sys.stderr.isatty())]
    releases = [module.__version__.partition("+")[0] for module in (torch, torchvision)]
    versions = f"torch {releases[0]}, torchvision {releases[1]}, {len(rows)} models"
    text = table(rows, versions)
    if options.print:
        print(text)
    else:
        write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
