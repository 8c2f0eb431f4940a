"""A deployment: one Redis and workers. All processes end with the test run, however it ends."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ROLLCALL", str(ROOT / ".build/debug/rollcall"))


def eventually(what, condition, within=30.0):
    """Waits until the condition returns something true, and returns it."""
    end = time.monotonic() + within
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"{what}: not within {within} s"
        time.sleep(0.01)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def watch_over(pid):
    """A shell that kills the process when this one ends, even by kill -9; closing its input cancels that."""
    script = 'trap "" INT TERM HUP; read -r word || kill -9 "$1"'
    return subprocess.Popen(
        ["sh", "-c", script, "watcher", str(pid)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        start_new_session=True)


class Process:
    """A child process that ends with the test run."""

    def __init__(self, arguments, **options):
        self.child = subprocess.Popen(arguments, text=True, **options)
        self.watcher = watch_over(self.child.pid)

    def crash(self):
        """Kills it, as kill -9 does."""
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(15)
            except subprocess.TimeoutExpired:
                self.crash()
        if self.watcher.poll() is None:
            self.watcher.communicate(b"done\n")


@contextlib.contextmanager
def stopping(process):
    """Provides a process, and ends it afterwards."""
    try:
        yield process
    finally:
        process.stop()


class Redis(Process):
    """A private server on loopback without persistence."""

    def __init__(self, port=None):
        self.port = port or free_port()
        self.folder = tempfile.mkdtemp(prefix="rollcall-browser-")
        super().__init__(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self.folder,
             "--aclfile", self.users()],
            stdout=subprocess.DEVNULL)
        eventually("Redis answers", self.answers)

    def users(self):
        """The operators' ACL file with a password added, and a user who may run every command."""
        line = (ROOT / "Config/redis.acl").read_text(encoding="utf-8").strip()
        file = pathlib.Path(self.folder) / "users.acl"
        file.write_text(f"user default on nopass ~* &* +@all\n{line} >a-password\n", encoding="utf-8")
        return str(file)

    @property
    def url(self):
        """The URL for workers, with only the permissions that they need."""
        return f"redis://rollcall:a-password@127.0.0.1:{self.port}"

    def answers(self):
        with contextlib.suppress(OSError):
            return self.ask("PING") == "PONG"

    def ask(self, *command):
        """The reply to a command, as redis-cli prints it."""
        done = subprocess.run(
            ["redis-cli", "-p", str(self.port), *command], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def stop(self):
        super().stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Worker(Process):
    """A worker that is ready."""

    def __init__(self, name, redis, origin, log=None, **settings):
        usual = {
            "worker.id": name, "edge.port": 0, "admin.port": 0,
            "auth.mode": "insecure", "edge.origins": origin, "presence.grace": "2s", "worker.lease": "2s",
            "worker.heartbeat": "500ms", "worker.drain": "1s", "log.level": "warning",
        }
        flags = [
            part for key, value in (usual | {key.replace("__", "."): value for key, value in settings.items()}).items()
            if value is not None for part in ("--set", f"{key}={value}")
        ]
        super().__init__(
            [PROGRAM, "worker", *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            # It has a password, which the command line does not take.
            env=os.environ | {"ROLLCALL_REDIS_URL": redis.url})
        ready = re.match(r"ready worker=(\S+) edge=(\S+) admin=(\S+)", self.child.stdout.readline())
        assert ready, f"worker {name} did not become ready"
        self.incarnation, self.edge, self.admin = ready.groups()
        self.port = int(re.search(r":(\d+)/", self.edge)[1])


class Dev(Process):
    """`rollcall dev`."""

    def __init__(self, *flags, **options):
        super().__init__(
            [PROGRAM, "dev", "--json", "--port", "0", *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            **options)
        self.ready = json.loads(self.child.stdout.readline())["ready"]
        # Reads and discards the output that follows, so that the pipe does not fill up.
        threading.Thread(target=self.child.stdout.read, daemon=True).start()
