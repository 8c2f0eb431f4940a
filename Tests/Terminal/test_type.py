"""`rollcall type`: each keystroke counts as typing."""

import signal
import time

import pytest

ESCAPE, CTRL_C, CTRL_D, CTRL_U, CTRL_Z = "\x1b", "\x03", "\x04", "\x15", "\x1a"


@pytest.fixture
def pair(room, terminal):
    """Alice and Bob, each with a text field, on two workers."""
    alice = terminal(*room.type(room.alice))
    bob = terminal("type", room.name, "--as", room.bob, "--url", room.workers[1].edge)
    for one in (alice, bob):
        one.shows("connected to", "Enter sends")
    return alice, bob


def test_keys_are_the_typing(room, pair):
    alice, bob = pair
    alice.types("Hello", pause=0.05)
    alice.shows("› Hello")
    bob.shows(f"{room.alice} is typing…")
    bob.types("Hey", pause=0.05)
    alice.shows(f"{room.bob} is typing…")


def test_the_others_typing_stands_above_the_field(room, pair):
    alice, bob = pair
    alice.types("Hello", pause=0.05)
    bob.shows(f"{room.alice} is typing…")
    lines = bob.lines
    typing = next(number for number, line in enumerate(lines) if "typing" in line)
    assert lines[typing + 1].startswith("›")
    assert bob.screen.cursor.y == typing + 1


@pytest.mark.parametrize("key", ["\r", ESCAPE, CTRL_U, "\x7f" * 5, "\x17"], ids=["enter", "esc", "^u", "backspaces", "^w"])
def test_an_emptied_field_ends_the_typing_at_once(room, pair, key):
    alice, bob = pair
    alice.types("Hello")
    bob.shows(f"{room.alice} is typing…")
    alice.types(key)
    bob.hides("is typing", within=1)
    alice.hides("› Hello")
    if key == "\r":
        alice.shows("sent: Hello")


@pytest.mark.parametrize("end", [CTRL_C, CTRL_D, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=str)
def test_leaving_is_a_goodbye_and_puts_the_terminal_right(room, pair, end):
    alice, bob = pair
    alice.types("Hello")
    bob.shows(f"{room.alice} is typing…")
    assert alice.takes_keys
    if isinstance(end, str):
        alice.types(end)
    else:
        alice.signal(end)
    bob.hides("is typing", within=1)
    assert alice.ends() == 0
    assert alice.is_as_found


def test_the_terminal_has_the_settings_that_it_had(room, terminal):
    shell = terminal("-c", 'stty -a; "$@"; stty -a', "sh", *command(room), program="sh")
    shell.shows("Enter sends")
    shell.types(CTRL_D)
    assert shell.ends() == 0
    first, last = (part.replace("\r", "") for part in settings(shell))
    assert first == last and "icanon" in first


def settings(shell):
    text = shell.bytes.decode()
    starts = [at for at in range(len(text)) if text.startswith("speed ", at)]
    assert len(starts) == 2
    return text[starts[0]:].split("\x1b")[0].strip(), text[starts[1]:].strip()


def command(room):
    from deployment import PROGRAM
    return [PROGRAM, *room.type(room.alice)]


def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(room, terminal):
    shell = terminal("--norc", "--noprofile", "-i", program="bash", PS1="$ ")
    shell.shows("$")
    shell.types(" ".join(f"'{word}'" for word in command(room)) + "\n")
    shell.shows("Enter sends", "connected to")
    shell.types("Hello")
    shell.shows("› Hello")
    shell.types(CTRL_Z)
    shell.said("Stopped")
    assert not shell.bytes.rpartition(b"Stopped")[0].rpartition(b"\x1b[?1049")[2].startswith(b"h")
    shell.types("stty -a | grep -o ' [-]*icanon'\n")
    shell.said(" icanon")
    shell.types("fg\n")
    shell.shows("› Hello", "Enter sends")
    shell.types(" again")
    shell.shows("› Hello again")
    shell.types(CTRL_C)
    shell.eventually("it gives the terminal back", lambda: shell.look() or shell.bytes.count(b"\x1b[?1049l") == 2)
    shell.types("echo left with $?\n")
    shell.said("left with 0")
    shell.types("exit\n")
    shell.ends()


def test_a_stop_that_cannot_be_foreseen_is_recovered_from(room, terminal):
    alice = terminal(*room.type(room.alice))
    alice.shows("connected to")
    alice.types("Hello")
    alice.shows("› Hello")
    alice.signal(signal.SIGSTOP)
    alice.screen.reset()
    alice.signal(signal.SIGCONT)
    alice.shows("› Hello", "connected to")


def test_a_stopped_program_that_is_to_end_puts_the_terminal_right_when_it_goes_on(room, terminal):
    alice = terminal(*room.type(room.alice))
    alice.shows("connected to")
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT):
        alice.signal(number)
    assert alice.ends() == 0
    assert alice.is_as_found


def test_what_is_ended_after_ctrl_z_leaves_the_shell_its_terminal(room, terminal):
    shell = terminal("--norc", "--noprofile", "-i", program="bash", PS1="$ ")
    shell.shows("$")
    shell.types(" ".join(f"'{word}'" for word in command(room)) + "\n")
    shell.shows("Enter sends", "connected to")
    shell.types(CTRL_Z)
    shell.said("Stopped")
    # Bash continues a stopped job when it kills it, and may still take it for stopped when it waits: that gives 148.
    shell.types("kill %1; code=148; while [ $code = 148 ]; do wait %1; code=$?; sleep 0.1; done; echo left with $code\n")
    shell.said("left with 0")
    assert shell.bytes.count(b"\x1b[?1049h") == 1, "the screen stays the shell's"
    shell.types("exit\n")
    assert shell.ends() == 0
    assert shell.is_as_found


def test_wide_joined_and_right_to_left_characters_keep_the_line_whole(room, pair):
    alice, bob = pair
    for text in ["日本語です", "e\u0301a\u0300", "👍🏽👨‍👩‍👧🇩🇪", "שלום עולם", "مرحبا"]:
        alice.types(text)
        alice.shows("› ")
        bob.shows(f"{room.alice} is typing…")
        alice.types("\x7f" * 20)
        alice.eventually("the field is empty", lambda: "›" in alice.lines)
        bob.hides("is typing", within=2)
        assert sum("›" in line for line in alice.lines) == 1


def test_the_cursor_stands_where_the_next_letter_comes(pair):
    alice, _ = pair
    alice.types("日本x")
    alice.shows("› 日本x".replace("日本", "日 本 ") if "日 本" in alice.text else "x")
    alice.eventually("the cursor is behind x", lambda: alice.look() or alice.screen.cursor.x == 7)
    alice.types("\x1b[D\x1b[D")
    alice.eventually("the cursor is before 本", lambda: alice.look() or alice.screen.cursor.x == 4)
    assert not alice.screen.cursor.hidden


def test_a_long_text_scrolls_in_its_line(pair):
    alice, _ = pair
    alice.types("".join(f"word{number} " for number in range(60)) + "END")
    alice.shows("END")
    field = next(line for line in alice.lines if "›" in line)
    assert "…" in field and len(field) <= 80
    assert sum("word" in line for line in alice.lines) == 1
    alice.types("\x01")
    alice.shows("› word0")


def test_pasted_lines_are_one_text_and_are_not_sent(room, pair):
    alice, bob = pair
    alice.types("\x1b[200~first\nsecond\r\nthird \x1b[31mred\x1b[201~")
    alice.shows("› first second third [31mred")
    assert "sent" not in alice.text
    bob.shows(f"{room.alice} is typing…")


def test_a_narrow_and_low_terminal_shows_what_matters(room, pair):
    alice, bob = pair
    bob.types("Hello")
    alice.shows("typing…")
    alice.resize(20, 2)
    alice.eventually("two lines are left", lambda: len([line for line in alice.lines if line]) == 2)
    assert all(len(line) <= 20 for line in alice.lines)
    assert "typing" in alice.lines[0] and alice.lines[1].startswith("›")
    alice.resize(100, 30)
    alice.shows("Enter sends", "connected to")


def test_idle_hands_end_the_typing(room, pair):
    alice, bob = pair
    alice.types("Hello")
    bob.shows(f"{room.alice} is typing…")
    time.sleep(0)
    bob.hides("is typing", within=6)
    alice.shows("› Hello")
