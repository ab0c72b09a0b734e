"""JupyterLab: `course lab` serves it on loopback."""

import json
import urllib.request
from urllib.parse import parse_qs, urlsplit

from support.front_end import course_lab
from support.paths import ROOT

from course_utils.cli.lab import choose_lesson


def test_course_lab_serves_jupyterlab(tmp_path):
    """`course lab` serves JupyterLab on the next unfinished lesson, with the course's files, on loopback only."""
    with course_lab(ROOT, tmp_path) as (address, log_path):
        base = "http://" + urlsplit(address).netloc
        (token,) = parse_qs(urlsplit(address).query)["token"]
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.status == 200
            assert "JupyterLab" in answer.read().decode()
        with urllib.request.urlopen(f"{base}/api/contents/exercises?token={token}", timeout=60) as answer:
            names = [entry["name"] for entry in json.load(answer)["content"]]
        log = log_path.read_text(encoding="utf-8")

    assert f"lab/tree/notebooks/{choose_lesson(ROOT, None).name}" in address
    assert "04_measuring_time" in names
    assert "0.0.0.0" not in log
