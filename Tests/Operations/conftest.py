"""Fixtures: an installation in a temporary folder, and a Redis."""

import pathlib
import subprocess

import pytest

from deployment import PROGRAM, ROOT, Redis, stopping


@pytest.fixture(scope="session")
def redis():
    with stopping(Redis()) as server:
        yield server


class Installation:
    """Runs `make install` with a folder instead of /."""

    def __init__(self, root):
        self.root = root

    program = pathlib.Path(PROGRAM)

    def make(self, target, program=program):
        return subprocess.run(
            ["make", "--silent", target, f"DESTDIR={self.root}", f"PROGRAM={program}"], cwd=ROOT, check=True,
            capture_output=True, text=True)

    def __truediv__(self, path):
        return self.root / path

    @property
    def files(self):
        return {file.relative_to(self.root).as_posix() for file in self.root.rglob("*") if file.is_file()}


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    installation = Installation(pathlib.Path(tmp_path_factory.mktemp("installed")))
    installation.make("install")
    return installation
