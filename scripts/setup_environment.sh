#!/bin/sh
# Make the environment that `make lab` and `make test` use; called by the Makefile.
#
#     setup_environment.sh VENV [PYTHON [TORCH_INDEX]]
#
# VENV: the folder of the environment. PYTHON: the interpreter to use; by default the first that suits.
# TORCH_INDEX: a pip index to take torch and torchvision from, such as PyTorch's CPU-only one.
set -eu
venv=$1
python=${2:-}
torch_index=${3:-}
here=$(dirname "$0")
root=$(cd "$here/.." && pwd)

find_python() {
    why=""
    for candidate in ${python:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        if answer=$("$candidate" "$root/scripts/check_python.py" 2>/dev/null); then
            echo "$candidate"
            return 0
        fi
        # keep the first reason, but an Intel Python on an Apple chip is the one to know about
        case "$answer" in *"Intel build"*) why=$answer ;; *) why=${why:-$answer} ;; esac
    done
    if [ -n "$python" ]; then
        echo "PYTHON=$python does not suit: ${why:-it cannot be run.}" >&2
    else
        echo "No suitable Python found: ${why:-install Python 3.11, 3.12, 3.13 or 3.14 and put it on the PATH.}" >&2
    fi
    return 1
}

if ! "$venv/bin/python" "$root/scripts/check_python.py" >/dev/null 2>&1; then
    interpreter=$(find_python) || exit 1
    echo "Making $venv with $("$interpreter" --version)"
    "$interpreter" -m venv --clear "$venv"
fi

echo "Installing the course and what it needs into $venv (torch is large: a few minutes)"
if [ -n "$torch_index" ]; then
    "$venv/bin/python" "$root/scripts/list_requirements.py" torch torchvision |
        xargs "$venv/bin/python" -m pip install --quiet --index-url "$torch_index"
fi
"$venv/bin/python" -m pip install --quiet --editable "$root[grading,cluster,dev,site]"
touch "$venv/.course-installed"
