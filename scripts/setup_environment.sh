#!/bin/sh
# Make or complete the environment that `make lab`, `make test` and `make site` use; called by the Makefile. What is
# there already is not installed again until pyproject.toml or this script changes.
#
#     setup_environment.sh PURPOSE VENV [PYTHON [TORCH_INDEX]]
#
# PURPOSE: lab (what a student needs), instructor (and the grader), site (and the web page), test (all of it).
# VENV: the folder of the environment. PYTHON: the interpreter to use; by default the first that suits.
# TORCH_INDEX: a pip index to take torch and torchvision from. Without one, Linux without an NVIDIA GPU takes PyTorch's
# small CPU build, where its index answers within seconds.
set -eu
purpose=$1
venv=$2
python=${3:-}
torch_index=${4:-}
here=$(dirname "$0")
root=$(cd "$here/.." && pwd -P)
cpu_index=https://download.pytorch.org/whl/cpu

case $purpose in
    lab) extras="" && includes="lab instructor site test" ;;
    instructor) extras="[grading,cluster]" && includes="instructor test" ;;
    site) extras="[site]" && includes="site test" ;;
    test) extras="[grading,cluster,dev,site]" && includes="test" ;;
    *) echo "setup_environment.sh: no purpose '$purpose'; there are lab, instructor, site and test" >&2 && exit 2 ;;
esac

# a stamp says where its environment lies, and which course's it is; an empty one says nothing
lies_in() { (cd "$venv" && pwd -P); }
read_stamp() {
    its_place="" its_course=""
    { read -r its_place && read -r its_course; } <"$1" || true
}

# programs of an environment begin with its path: where it was moved or copied they call what is not there, or another
moved=""
for stamp in "$venv"/.course-*; do
    [ -f "$stamp" ] && read_stamp "$stamp" || continue
    [ -z "$its_place" ] || [ "$its_place" = "$(lies_in)" ] || moved=$its_place
done

# an environment made for more serves as well
for made in $includes; do
    stamp=$venv/.course-$made
    [ -z "$moved" ] && [ -f "$stamp" ] && read_stamp "$stamp" || continue
    [ -z "$its_course" ] || [ "$its_course" = "$root" ] || continue
    if [ "$stamp" -nt "$root/pyproject.toml" ] && [ "$stamp" -nt "$root/scripts/setup_environment.sh" ]; then
        exit 0
    fi
done

find_python() {
    why=""
    set -- python3 python3.14 python3.13 python3.12 python3.11 python
    [ -z "$python" ] || set -- "$python"  # the one that was asked for, and no other
    for candidate in "$@"; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        if answer=$("$candidate" "$root/scripts/check_python.py" 2>/dev/null); then
            echo "$candidate"
            return 0
        fi
        # keep the first reason, but an Intel Python on an Apple chip is the one to know about
        case "$answer" in *"Intel build"*) why=$answer ;; *) why=${why:-$answer} ;; esac
    done
    if [ -n "$python" ]; then
        if ! command -v "$python" >/dev/null 2>&1; then
            why="there is no such program."
        elif [ -z "$why" ]; then
            # a shim of a version manager knows why it starts no Python
            why=$("$python" --version 2>&1 | { read -r line && echo "$line"; })
        fi
        echo "PYTHON=$python does not suit: ${why:-it cannot be run.}" >&2
    else
        echo "No suitable Python found: ${why:-install Python 3.11, 3.12, 3.13 or 3.14 and put it on the PATH.}" >&2
    fi
    return 1
}

# a package index answers within seconds, or it is not used
answers() {
    "$venv/bin/python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)' "$1/torch/" 2>/dev/null
}

if [ -n "$moved" ] || ! "$venv/bin/python" "$root/scripts/check_python.py" >/dev/null 2>&1; then
    [ -z "$moved" ] || echo "$venv was made in $moved, and an environment cannot be moved: making it again"
    interpreter=$(find_python) || exit 1
    echo "Making $venv with $("$interpreter" --version)"
    "$interpreter" -m venv --clear "$venv"
fi

if ! "$venv/bin/python" -c 'import importlib.metadata as m; m.version("torch"); m.version("torchvision")' 2>/dev/null; then
    if [ -z "$torch_index" ] && [ "$(uname)" = Linux ] && ! command -v nvidia-smi >/dev/null 2>&1; then
        if answers "$cpu_index"; then
            torch_index=$cpu_index
            echo "No NVIDIA GPU here: taking torch's CPU build from $cpu_index"
        else
            echo "No NVIDIA GPU here, but $cpu_index does not answer: taking torch's default build, several GB"
        fi
    fi
    if [ -n "$torch_index" ]; then
        "$venv/bin/python" "$root/scripts/list_requirements.py" torch torchvision |
            "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --index-url "$torch_index" --requirement /dev/stdin
    fi
fi
echo "Installing the course and what it needs ($purpose) into $venv (torch is large: a few minutes)"
# jsonschema 4.25 builds 38 parsers when it is imported: two seconds of every start of JupyterLab, nbgrader and Sphinx
# (python-jsonschema #1428). An environment of the reader's own keeps what it has
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$root$extras" "jsonschema<4.25"
printf '%s\n' "$(lies_in)" "$root" >"$venv/.course-$purpose"
