"""A worker as a systemd service: its unit, and the messages between the two."""

import contextlib
import ctypes
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import tempfile

import pytest

from deployment import PROGRAM, Process, stopping

UNIT = "usr/local/lib/systemd/system/rollcall@.service"
# systemd's own scale: 0 is a service without any permissions, 10 one with all of them.
MOST_EXPOSED = 2.0

needs_linux = pytest.mark.skipif(platform.system() != "Linux", reason="Linux alone has units")
needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")


@pytest.fixture
def unit(installed, tmp_path):
    """An instance of the installed unit, with the paths of the test installation."""
    file = tmp_path / "rollcall@a.service"
    file.write_text((installed / UNIT).read_text().replace("/usr/local/bin", f"{installed / 'usr/local/bin'}"))
    return file


def analyze(installed, *arguments):
    manual = f"{installed / 'usr/local/share/man'}:"
    return subprocess.run(
        ["systemd-analyze", "--no-pager", *arguments], capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "MANPATH": manual})


@needs_systemd
def test_the_unit_is_right_and_the_manual_that_it_names_is_there(installed, unit):
    verified = analyze(installed, "verify", unit)
    assert (verified.returncode, verified.stderr) == (0, "")


@needs_systemd
def test_the_unit_exposes_little(installed, unit):
    judged = analyze(installed, "security", "--offline=true", unit)
    exposure = re.search(r"Overall exposure level for .*: ([\d.]+)", judged.stdout)
    assert float(exposure[1]) < MOST_EXPOSED, judged.stdout


@needs_linux
def test_the_unit_gives_the_worker_time_and_leaves_a_wrong_configuration_alone(installed):
    text = (installed / UNIT).read_text()
    assert {"Type=notify", "TimeoutStopSec=15", "RestartPreventExitStatus=64 78"} <= set(text.splitlines())


@needs_linux
def test_another_prefix_is_where_the_unit_looks(tmp_path, installed):
    subprocess.run(
        ["scripts/install", PROGRAM], check=True, cwd=os.path.dirname(__file__) + "/../..",
        env={**os.environ, "DESTDIR": str(tmp_path), "PREFIX": "/opt/rollcall", "SYSCONFDIR": "/opt/etc"})
    text = (tmp_path / "opt/rollcall/lib/systemd/system/rollcall@.service").read_text()
    assert "ExecStart=/opt/rollcall/bin/rollcall worker --config /opt/etc/rollcall/worker.yaml\n" in text
    assert "/usr/local" not in text and not re.search(r"=(\S+:)?/etc", text)


@contextlib.contextmanager
def listening(abstract):
    """The socket on which a service's manager listens."""
    with tempfile.TemporaryDirectory(prefix="rollcall-") as folder, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        path = f"{folder}/notify"
        manager.settimeout(30)
        manager.bind(f"\0{path}" if abstract else path)
        yield manager, f"@{path}" if abstract else path


def start(redis, *settings, **options):
    usual = [f"redis.url=redis://127.0.0.1:{redis.port}", "edge.port=0", "admin.port=0", "auth.mode=insecure"]
    flags = [word for setting in [*usual, *settings] for word in ("--set", setting)]
    return Process([PROGRAM, "worker", *flags], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, **options)


@pytest.mark.parametrize("abstract", [
    False,
    pytest.param(True, marks=pytest.mark.skipif(platform.system() != "Linux", reason="Linux alone has such names")),
])
def test_a_worker_says_when_it_is_ready_and_when_it_drains(redis, abstract):
    with listening(abstract) as (manager, name), \
            stopping(start(redis, env={**os.environ, "NOTIFY_SOCKET": name})) as worker:
        news = manager.recv(4096).decode().splitlines()
        line = worker.child.stdout.readline().rstrip()
        assert line.startswith("ready worker=")
        assert news == ["READY=1", f"STATUS={line}"]
        worker.child.send_signal(signal.SIGTERM)
        assert manager.recv(4096).decode().splitlines() == ["STOPPING=1", "STATUS=draining"]
        assert worker.child.wait(20) == 0


@pytest.mark.parametrize("name", ["/nowhere/notify", "@nobody-listens", "not a path", "/" + "x" * 200])
def test_a_worker_serves_although_nobody_listens(redis, name):
    with stopping(start(redis, env={**os.environ, "NOTIFY_SOCKET": name})) as worker:
        assert worker.child.stdout.readline().startswith("ready ")


def test_a_worker_that_never_was_ready_says_nothing(redis):
    with listening(False) as (manager, name):
        with stopping(start(redis, "edge.port=1", "edge.host=192.0.2.1", "auth.mode=jwt", "worker.lease=1s",
                            env={**os.environ, "NOTIFY_SOCKET": name}, stderr=subprocess.DEVNULL)) as worker:
            assert worker.child.wait(20) == 78
        manager.settimeout(0)
        with pytest.raises(BlockingIOError):
            manager.recv(1)


def deny_writing_and_executing():
    """Does what MemoryDenyWriteExecute= does, for this process and the programs that it executes."""
    set_mdwe, refuse_gain = 65, 1
    if ctypes.CDLL(None, use_errno=True).prctl(set_mdwe, refuse_gain, 0, 0, 0) != 0:
        os._exit(77)


@pytest.mark.skipif(platform.system() != "Linux", reason="Linux alone has this")
def test_a_worker_needs_no_memory_that_is_written_and_executed(redis):
    with stopping(start(redis, preexec_fn=deny_writing_and_executing)) as worker:
        line = worker.child.stdout.readline()
        if worker.child.poll() == 77:
            pytest.skip("this kernel is older than 6.3")
        assert line.startswith("ready ")
