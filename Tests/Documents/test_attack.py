"""Sends requests generated from the OpenAPI document to the admin port: every response must be in the document."""

import os
import random
import re
import subprocess
import sys

from conftest import TOKEN
from deployment import ROOT, eventually

# Without a time limit, the number of cases is fixed, so that a busy machine does not try fewer.
SECONDS = os.environ.get("SECONDS_OF_ATTACK")
LENGTH = ["--max-time", SECONDS] if SECONDS else ["--max-examples", "15"]
FOLDER = str(ROOT / "Tests/Documents")
SEED = int(os.environ.get("SEED", random.randrange(2**32)))


def test_schemathesis_finds_nothing(redis, workers, tmp_path):
    worker = workers[0]
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", str(ROOT / "docs/openapi.yaml"),
        "--url", worker.admin, "--header", f"Authorization: Bearer {TOKEN}", "--checks", "all",
        "--phases", "coverage,fuzzing,stateful", "--continue-on-failure", "--seed", str(SEED), *LENGTH, "--no-color",
    ]
    # Stored results of earlier runs would make one run depend on another.
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "SCHEMATHESIS_HOOKS": "attack_hooks", "PYTHONPATH": FOLDER},
        capture_output=True, text=True, check=False)
    print(f"seed {SEED}\n{done.stdout}{done.stderr}")
    assert done.returncode == 0, f"SEED={SEED}"
    assert worker.child.poll() is None, "the worker lives"
    requests = re.search(r"(\d+) generated", done.stdout)
    assert requests and int(requests[1]) > 100, "it was attacked indeed"
    eventually("what was sent has left nothing but members and revocations", lambda: only_members(redis))


def only_members(redis):
    kinds = {key.split(":")[0] for key in redis.ask("--scan").splitlines()}
    return kinds <= {"members", "revoked", "{workers}", "worker"}
