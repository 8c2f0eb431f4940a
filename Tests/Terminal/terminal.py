"""A pseudo terminal with a program in it, and what a person would see: pyte renders the screen."""

import fcntl
import os
import select
import signal
import struct
import termios
import time

import pyte

from deployment import PROGRAM, eventually, watch_over


class Terminal:
    """Runs a program, `rollcall` by default, with these arguments on a new terminal."""

    def __init__(self, *arguments, program=PROGRAM, columns=80, rows=24, **environment):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        self.code = None
        # The environment of the test run may disable colours or set a language.
        inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "LANGUAGE")}
        environment = {**inherited, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
        # This end stays open here too: the settings can be read only while it is open.
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.found = self.settings
        self.pid = os.fork()
        if self.pid == 0:
            try:
                take(self.slave)
                os.execvpe(program, [program, *arguments], environment)
            finally:
                os._exit(127)
        self.watcher = watch_over(self.pid)

    def look(self):
        """Renders the output so far; also notes whether the program has exited."""
        while select.select([self.master], [], [], 0)[0]:
            try:
                some = os.read(self.master, 65536)
            except OSError:
                break
            self.bytes += some
            self.stream.feed(some)
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)

    @property
    def lines(self):
        self.look()
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def shows(self, *texts, within=10):
        """Waits until all of these are visible."""
        self.eventually(f"{texts} on the screen", lambda: all(text in self.text for text in texts), within)

    def hides(self, *texts, within=10):
        """Waits until none of these is visible."""
        self.eventually(f"{texts} off the screen", lambda: not any(text in self.text for text in texts), within)

    def said(self, text, within=10):
        """Waits until the program has written this, even if it is not on the screen any more."""
        self.eventually(f"{text!r} written", lambda: self.look() or text.encode() in self.bytes, within)

    def eventually(self, what, condition, within=10):
        try:
            return eventually(what, condition, within)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text}\n{self.bytes[-400:]!r}") from None

    def types(self, text, pause=0.0):
        """Presses keys, one after another if there is a pause."""
        for key in [text] if pause == 0 else text:
            os.write(self.master, key.encode())
            time.sleep(pause)

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def settings(self):
        return termios.tcgetattr(self.slave)

    @property
    def takes_keys(self):
        """Whether keys reach the program at once and without echo."""
        return not self.settings[3] & (termios.ICANON | termios.ECHO)

    @property
    def is_as_found(self):
        """Whether every setting is as before the program started, and the terminal wraps lines, shows its cursor, does
        not bracket pasted text, and shows the normal screen."""
        self.look()
        switches = {b"?1049": b"l", b"?7": b"h", b"?2004": b"l", b"?25": b"h"}
        last = {name: self.bytes[self.bytes.rfind(b"\x1b[" + name) + 2 + len(name):][:1] for name in switches}
        return last == switches and self.settings == self.found

    def signal(self, number):
        os.kill(self.pid, number)

    def ends(self, within=10):
        """Waits for the program to exit, and returns its exit code."""
        self.eventually("the program ends", lambda: self.look() or self.code is not None, within)
        return self.code

    def close(self):
        self.look()
        if self.code is None:
            self.signal(signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.watcher.communicate(b"done\n")
        os.close(self.slave)
        os.close(self.master)


def take(terminal):
    """Makes this process the leader of a session on that terminal. (Python 3.11 has `os.login_tty`.)"""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for stream in range(3):
        os.dup2(terminal, stream)
