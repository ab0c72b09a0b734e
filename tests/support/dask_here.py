"""A Dask cluster on the loopback, its scheduler and its workers processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from support.paths import TESTS
from support.small_class import wait_for


class LocalCluster:
    """A scheduler and workers on loopback, each a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes = []

    def start_scheduler(self):
        """Start the scheduler; wait until it has written its address, which it does not in one step."""
        scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        while not wait_for(self.file, scheduler).rstrip().endswith("}"):
            time.sleep(0.01)
        self.address = json.loads(self.file.read_text())["address"]

    def start(self, kind, *arguments):
        """Start a scheduler or a worker."""
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        }
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(self.file), *arguments]
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            process = subprocess.Popen(command, env=environment, cwd=self.folder, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def start_workers(self, number):
        """Start workers of one thread each; wait until the scheduler knows them."""
        from distributed import Client

        made = [
            self.start("worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
            for _ in range(number)
        ]
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=60)
        return made

    def stop(self):
        """End all of them."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()
