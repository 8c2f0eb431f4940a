"""A separate machine for commands: loopback with all ports free, a process namespace that ends with it, and a copy of the
repository in which the program is built."""

import fcntl
import os
import pty
import re
import shlex
import shutil
import socket
import struct
import subprocess
import tempfile
import termios
import threading

from deployment import PROGRAM, ROOT, eventually

# Begins a world; its first process is the first of the process namespace, and all others end with it.
BEGIN = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]),
         "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
MARK = "\x1e"


def is_possible():
    return subprocess.run([*BEGIN, "true"], capture_output=True, check=False).returncode == 0


def raise_loopback():
    up, set_flags = 1, 0x8914
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh22x", b"lo", up))


def make_folder():
    """A clone of the repository: what commands may write to is copied, the rest is linked."""
    folder = tempfile.mkdtemp(prefix="rollcall-docs-")
    for entry in ROOT.iterdir():
        if entry.name in ("Config", "scripts"):
            shutil.copytree(entry, f"{folder}/{entry.name}")
        elif not entry.name.startswith(".") and entry.name != "secrets":
            os.symlink(entry, f"{folder}/{entry.name}")
    for build in ("debug", "release"):
        os.makedirs(f"{folder}/.build/{build}")
        os.symlink(PROGRAM, f"{folder}/.build/{build}/rollcall")
    return folder


class Terminal:
    """A shell on a terminal that runs commands; the terminal's output is kept."""

    def __init__(self, folder, state=None):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 40, 240, 0, 0))
        orders, self.orders = os.pipe()
        self.shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile", f"/dev/fd/{orders}"], cwd=folder, stdin=slave, stdout=slave,
            stderr=slave, pass_fds=[orders], start_new_session=True,
            env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        os.close(orders)
        self.text = ""
        threading.Thread(target=self._read, args=[master], daemon=True).start()
        if state:
            self.order(f". {shlex.quote(state)} 2>/dev/null")

    def _read(self, master):
        pieces = b""
        while piece := self._piece(master):
            pieces += piece
            self.text = pieces.decode(errors="replace").replace("\r\n", "\n")

    @staticmethod
    def _piece(master):
        try:
            return os.read(master, 65536)
        except OSError:
            return b""

    def order(self, command):
        os.write(self.orders, f"{command}\n".encode())

    def do(self, command, within=30):
        """Runs a command until its end; returns its exit code and the output."""
        start = len(self.text)
        self.order(command)
        self.order(f"printf '{MARK}%s{MARK}' $?")
        ended = eventually(
            f"{command} ends", lambda: re.compile(f"{MARK}(\\d+){MARK}").search(self.text, start), within)
        return int(ended[1]), self.text[start:ended.start()]

    def last(self, command):
        """Runs the last command; the shell exits with its exit code."""
        self.order(f"{command}\nexit $?")
