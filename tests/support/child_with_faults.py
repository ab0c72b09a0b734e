"""A process that follows the protocol of `known_faults.child`, and does what the issues that it is asked for say."""

import json
import os
import sys
import time


def main():
    """Answer, abort, exit, hang or raise, as each issue says."""
    asked = json.load(sys.stdin)
    with os.fdopen(int(sys.argv[1]), "w", buffering=1) as answers:
        if asked["issues"][0] == "does not start":
            sys.exit("no module named torch")
        for issue in asked["issues"]:
            print(json.dumps({"asking": issue}), file=answers)
            if issue == "aborts":
                print("MPSNDArray.mm:850: failed assertion", file=sys.stderr, flush=True)
                os.abort()
            if issue == "exits":
                os._exit(3)
            if issue == "hangs":
                time.sleep(3600)
            fallback = os.environ.get("PYTORCH_ENABLE_MPS_FALLBACK", "unset")
            print(json.dumps({"issue": issue, "state": "right", "detail": fallback}), file=answers)


if __name__ == "__main__":
    main()
