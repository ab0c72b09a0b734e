"""The process that asks: `python -m course_utils.numerics.known_faults.child DESCRIPTOR`, started by `isolation`.

It reads what to ask from standard input as JSON, and writes a line of JSON to the descriptor before each reproducer
and after it. So the parent knows which one was running when this process ends.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Ask what standard input names, one after the other."""
    asked = json.load(sys.stdin)
    with os.fdopen(int(sys.argv[1]), "w", buffering=1) as answers:
        import torch

        from course_utils.numerics.known_faults.asking import ask
        from course_utils.numerics.known_faults.suite import all_reproducers

        reproducers = all_reproducers()
        for issue in asked["issues"]:
            print(json.dumps({"asking": issue}), file=answers)
            print(json.dumps(ask(reproducers[issue], torch.device(asked["device"])).to_dict()), file=answers)


if __name__ == "__main__":
    main()
