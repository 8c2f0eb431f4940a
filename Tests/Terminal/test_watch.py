"""`rollcall watch`: a live view on a terminal, lines elsewhere."""

import json
import os
import re
import select
import signal
import subprocess

import pytest

from deployment import PROGRAM, Process

CTRL_C, CTRL_D, CTRL_L = "\x03", "\x04", "\x0c"
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u009b5n\u202eMallory"


def test_people_typing_and_presence_are_drawn_over_in_place(room, terminal):
    room.has(alice="Alice", bob="Bob")
    watch = terminal(*room.watch(room.bob, "-c", room.name, room.carol))
    watch.shows("0 of 2 online", "○ Alice", "○ Bob", f"○ {room.carol}")
    alice = terminal(*room.type(room.alice))
    watch.shows("1 of 2 online", "● Alice")
    alice.types("Hello", pause=0.05)
    watch.shows("Alice is typing…")
    alice.types(CTRL_D)
    watch.shows("0 of 2 online", "○ Alice")
    watch.hides("Alice is typing…")
    row = next(line for line in watch.lines if "Alice" in line)
    assert re.fullmatch(rf"  ○ Alice +{room.alice} +Offline +\d+ s", row)
    assert sum("Alice" in line for line in watch.lines) == 1
    before = row
    watch.eventually("the seconds go on", lambda: before not in watch.lines)


@pytest.mark.parametrize("end", ["q", CTRL_C, CTRL_D, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_every_way_out_puts_the_terminal_right(room, terminal, end):
    watch = terminal(*room.watch(room.bob, "-c", room.name))
    watch.shows("connected to", room.name)
    if isinstance(end, str):
        watch.types(end)
    else:
        watch.signal(end)
    assert watch.ends() == 0
    assert watch.is_as_found


def test_a_worker_that_is_not_there_is_told_of_and_waited_for(terminal, room):
    url = "ws://127.0.0.1:9/v1/connect"
    watch = terminal("watch", "--as", room.bob, "--url", url, room.alice)
    field = terminal("type", room.name, "--as", room.bob, "--url", url)
    for one in (watch, field):
        one.shows("not connected", url, "rollcall dev", "--url")
        one.types(CTRL_C)
        assert one.ends() == 0


def test_a_wrong_token_is_told_of_on_the_persons_own_screen(terminal, room, worker, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef" * 3)
    strict = worker(auth__mode="jwt", auth__secret_file=str(secret))
    watch = terminal("watch", "--as", room.bob, "--url", strict.edge, room.alice)
    assert watch.ends() == 69
    assert watch.is_as_found
    assert "given up" in watch.bytes.rpartition(b"\x1b[?1049l")[2].decode()
    assert "rollcall token" in watch.bytes.decode()


def test_a_resized_terminal_is_drawn_anew(room, terminal):
    room.has(alice="Alice", bob="Bob", carol="Carol")
    watch = terminal(*room.watch(room.bob, "-c", room.name))
    watch.shows("0 of 3 online", "Carol", "Offline")
    watch.resize(14, 5)
    watch.shows("… 2 more", "○ Alice")
    assert all(len(line) <= 14 for line in watch.lines)
    watch.resize(80, 24)
    watch.shows("Carol", "Offline")
    watch.screen.reset()
    watch.types(CTRL_L)
    watch.shows("Carol", "Offline")


def test_four_columns_are_enough_for_dots_and_typing(room, terminal):
    room.has(alice="Alice", bob="Bob")
    watch = terminal(*room.watch(room.bob, "-c", room.name), columns=4)
    watch.eventually("a row each", lambda: watch.lines.count("  ○…") == 2)
    alice = terminal(*room.type(room.alice))
    watch.eventually("Alice is here", lambda: watch.lines.count("  ●…") == 1 and watch.lines.count("  ○…") == 1)
    alice.types("Hello")
    watch.eventually("Alice types", lambda: "  A…" in watch.lines)
    watch.types("q")
    assert watch.ends() == 0
    assert watch.is_as_found


def test_wide_names_keep_the_columns_straight(room, terminal):
    room.has(alice="日本語の名前", bob="👨‍👩‍👧 Family", carol="علي")
    watch = terminal(*room.watch(room.bob, "-c", room.name))
    watch.shows("0 of 3 online", "Offline")
    rows = [row for row in range(24) if watch.screen.buffer[row][2].data == "○"]
    starts = {next(column for column in range(80) if watch.screen.buffer[row][column].data == "O") for row in rows}
    assert len(rows) == 3 and len(starts) == 1


def test_a_hostile_name_reaches_no_terminal(room, terminal):
    room.has_by_hand(alice=HOSTILE, bob="Bob")
    watch = terminal(*room.watch(room.bob, "-c", room.name))
    composing = terminal("type", room.name, "--as", room.bob, "--url", room.workers[1].edge)
    watch.shows("␛]0;owned␇␛[2J", "Mallory")
    terminal(*room.type(room.alice)).types("Hello")
    for one in (watch, composing):
        one.shows("Mallory is typing…")
        assert one.screen.title == ""
        text = one.bytes.decode()
        assert not any(hostile in text for hostile in ("\x1b]", "\x07", "\u009b", "\u202e"))


def test_no_color_takes_the_colours_and_leaves_the_meaning(room, terminal):
    plain = terminal(*room.watch(room.bob, room.alice), NO_COLOR="1")
    coloured = terminal(*room.watch(room.bob, room.alice))
    for one in (plain, coloured):
        one.shows(f"○ {room.alice}", "connected")
    assert re.search(rb"\x1b\[\d+m", coloured.bytes) and not re.search(rb"\x1b\[\d+m", plain.bytes)


def test_a_dumb_terminal_gets_lines(room, terminal):
    watch = terminal(*room.watch(room.bob, room.alice), TERM="dumb")
    watch.shows(f"{room.alice}  Offline")
    assert b"\x1b" not in watch.bytes
    field = terminal(*room.type(room.alice), TERM="dumb")
    assert field.ends() == 64
    assert "--script FILE" in field.text


@pytest.mark.parametrize("options, line", [
    (["--language", "de"], "schreibt"), (["--language", "ja"], "が入力中"), ([], "écrire"),
])
def test_texts_are_in_the_language_asked_for_else_the_environments(room, terminal, options, line):
    watch = terminal(*room.watch(room.bob, "-c", room.name, *options), LC_ALL="", LANG="fr_FR.UTF-8")
    watch.shows("connected to")
    terminal(*room.type(room.alice)).types("Hello")
    watch.eventually(line, lambda: line in watch.text.replace(" ", "") or line in watch.text)


class Piped(Process):
    """`rollcall` without a terminal."""

    def __init__(self, *arguments):
        super().__init__(
            [PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.output = self.child.stdout.fileno()
        self.rest = b""

    def line(self):
        """The next line."""
        while b"\n" not in self.rest:
            assert select.select([self.output], [], [], 10)[0], f"no further line; {self.rest}"
            some = os.read(self.output, 65536)
            assert some, f"the end of the output; {self.rest}"
            self.rest += some
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def until(self, text):
        """The next line with this text."""
        while True:
            line = self.line()
            if text in line:
                return line


@pytest.fixture
def piped():
    started = []

    def start(*arguments):
        started.append(Piped(*arguments))
        return started[-1]

    yield start
    for one in started:
        one.stop()
        one.child.stdout.close()


def test_without_a_terminal_every_change_is_a_line(room, terminal, piped):
    room.has_by_hand(alice=HOSTILE, bob="Bob")
    watch = piped(*room.watch(room.bob, "-c", room.name, "--language", "en"))
    seen = [watch.until("Offline")]
    alice = terminal(*room.type(room.alice))
    seen.append(watch.until("Online"))
    alice.types("Hello")
    seen.append(watch.until("is typing…"))
    alice.types("\r")
    assert watch.until("nobody") == f"{room.name}  nobody is typing"
    assert not any(control in line for line in seen for control in "\x1b\x07\u009b\u202e")
    assert seen[1].endswith("Online") and room.alice in seen[1]


def test_json_is_an_object_a_line(room, terminal, piped):
    room.has_by_hand(alice=HOSTILE, bob="Bob")
    watch = piped(*room.watch(room.bob, "-c", room.name, "--json", room.carol))
    alice = terminal(*room.type(room.alice))
    alice.shows("connected to")
    alice.types("Hello")
    lines = [watch.until('"count":1,"users":[{"name"')]
    objects = [json.loads(line) for line in lines]
    assert objects[0] == {"typing": {
        "conversation": room.name, "count": 1, "users": [{"user": room.alice, "name": HOSTILE}]}}
    assert not any(control in line for line in lines for control in "\x1b\x07\u009b")
    alice.types("\x04")
    # The order of these two is not defined.
    wanted = {"typing", "presence"}
    while wanted:
        (kind, value), = json.loads(watch.line()).items()
        if kind == "typing" and value == {"conversation": room.name, "count": 0, "users": []}:
            wanted.discard(kind)
        if kind == "presence" and value["user"] == room.alice and value["status"] == "offline":
            assert set(value) == {"user", "status", "last_seen", "updated_at", "version"}
            wanted.discard(kind)


def test_json_begins_with_the_present_state(room, piped):
    watch = piped(*room.watch(room.bob, "-c", room.name, "--json", room.carol))
    objects = [json.loads(watch.line()) for _ in range(3)]
    kinds = {next(iter(thing)): thing for thing in objects}
    assert set(kinds) == {"connection", "typing", "presence"}
    connection = kinds["connection"]["connection"]
    assert connection["state"] == "connected" and connection["user"] == room.bob
    assert kinds["presence"]["presence"] == {
        "user": room.carol, "status": "offline", "last_seen": None, "updated_at": None,
        "version": kinds["presence"]["presence"]["version"]}


def test_an_unknown_language_is_answered_with_those_there_are(room):
    done = subprocess.run([PROGRAM, *room.watch(room.bob, room.alice, "--language", "sv")], capture_output=True, text=True)
    assert done.returncode == 64
    for known in ("de (Deutsch)", "zh-Hant", "ar ("):
        assert known in done.stderr


def test_a_signal_ends_the_lines_in_good_order(room, piped):
    watch = piped(*room.watch(room.bob, "-c", room.name, room.alice))
    watch.until("Offline")
    watch.child.terminate()
    assert watch.child.wait(10) == 0
