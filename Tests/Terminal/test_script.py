"""`rollcall type --script`: scripted typing."""

import subprocess

from deployment import PROGRAM

STORY = """
# Alice says hello
pace 50ms
type Hello
wait 500ms
send
wait 300ms
type And
background
wait 500ms
foreground
type  more
leave
wait 300ms
"""


def test_a_script_types_and_the_others_see_it(room, terminal, tmp_path):
    script = tmp_path / "story"
    script.write_text(STORY)
    watch = terminal(*room.watch(room.bob, "-c", room.name, room.alice))
    watch.shows("connected to")
    alice = terminal(*room.type(room.alice, "--script", str(script)))
    alice.shows("› Hello", "a script types")
    watch.shows(f"{room.alice} is typing…", f"● {room.alice}")
    alice.shows("sent: Hello")
    watch.hides("is typing")
    alice.shows("in the background")
    watch.shows(f"○ {room.alice}")
    alice.shows("has left")
    assert alice.ends() == 0
    assert alice.is_as_found


def test_a_script_without_a_terminal_says_what_it_does(room):
    done = subprocess.run(
        [PROGRAM, *room.type(room.alice, "--script", "-")], input="paste Hi \x1b[2J\nsend\n", capture_output=True,
        text=True, timeout=30)
    assert done.returncode == 0
    assert "sent: Hi [2J\n" in done.stdout
    assert "connected to" in done.stderr


def test_a_wrong_script_is_answered_with_its_lines(room, tmp_path):
    script = tmp_path / "story"
    script.write_text("type Hello\nwiat 1s\nwait long\n")
    done = subprocess.run(
        [PROGRAM, *room.type(room.alice, "--script", str(script))], capture_output=True, text=True, timeout=30)
    assert done.returncode == 64
    assert f'{script}:2: there is no "wiat"; write wait 1s' in done.stderr
    assert f"{script}:3: wait wants" in done.stderr
    missing = subprocess.run(
        [PROGRAM, *room.type(room.alice, "--script", "/nowhere")], capture_output=True, text=True, timeout=30)
    assert missing.returncode == 64 and "/nowhere cannot be read" in missing.stderr


def test_a_script_cannot_type_at_no_pace(room, tmp_path):
    script = tmp_path / "story"
    script.write_text("pace 0s\ntype Hello\n")
    done = subprocess.run(
        [PROGRAM, *room.type(room.alice, "--script", str(script))], capture_output=True, text=True, timeout=30)
    assert done.returncode == 64
    assert f"{script}:1: pace wants a time above 0; to write at once, write paste" in done.stderr


def test_for_types_for_as_long(room, terminal):
    bob = terminal("type", room.name, "--as", room.bob, "--url", room.workers[1].edge)
    bob.shows("connected to")
    alice = subprocess.Popen(
        [PROGRAM, *room.type(room.alice, "--for", "2s")], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bob.shows(f"{room.alice} is typing…")
    bob.hides("is typing")
    assert alice.wait(10) == 0


def test_a_field_wants_a_keyboard(room):
    done = subprocess.run(
        [PROGRAM, *room.type(room.alice)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    assert done.returncode == 64
    assert "--script FILE" in done.stderr and "--for 5s" in done.stderr
