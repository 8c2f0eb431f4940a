"""`rollcall top`: all workers, live on a terminal, and as lines elsewhere."""

import json
import re
import signal
import subprocess

import pytest

from deployment import PROGRAM, eventually

CTRL_C, CTRL_L, CTRL_Z = "\x03", "\x0c", "\x1a"


def top(room, *arguments):
    return ["top", "--admin", room.workers[0].admin, "--interval", "200ms", *arguments]


def test_workers_sessions_and_rates_are_drawn_over_in_place(room, terminal):
    view = terminal(*top(room), columns=120, rows=30)
    view.shows(*(f"● {worker.incarnation}" for worker in room.workers), "· ready ·", "deliveries/s")
    watch = terminal(*room.watch(room.bob, "-c", room.name))
    watch.shows("connected to")
    terminal(*room.type(room.alice)).types("Hello", pause=0.3)
    view.eventually("somebody signals", lambda: re.search(r"^signals/s +[1-9\d.]+", view.text, re.MULTILINE))
    view.shows("busiest conversations", room.name, "1 typing")
    row = next(line for line in view.lines if room.workers[0].incarnation in line and "●" in line)
    assert int(row.split()[2]) >= 1, row
    assert sum("worker  " in line for line in view.lines) == 1


@pytest.mark.parametrize("end", ["q", CTRL_C, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_every_way_out_puts_the_terminal_right(room, terminal, end):
    view = terminal(*top(room))
    view.shows(room.workers[0].incarnation)
    assert view.takes_keys
    view.types(end) if isinstance(end, str) else view.signal(end)
    assert view.ends() == 0
    assert view.is_as_found


def test_a_resized_terminal_is_drawn_anew(room, terminal):
    view = terminal(*top(room), columns=120, rows=30)
    view.shows("host", "version")
    view.resize(20, 12)
    view.hides("version")
    view.shows("sessions", "● w")
    assert all(len(line) <= 20 for line in view.lines)
    view.resize(100, 24)
    view.shows("version", room.workers[1].incarnation)
    view.screen.reset()
    view.types(CTRL_L)
    view.shows("deliveries/s")


def test_a_worker_that_goes_away_leaves_its_picture_and_is_waited_for(room, terminal, worker):
    own = worker(admin__port="0")
    view = terminal("top", "--admin", own.admin, "--interval", "200ms")
    view.shows(own.incarnation)
    own.crash()
    view.shows("No answer for", "no worker answers", own.incarnation)
    view.types("q")
    assert view.ends() == 0
    assert view.is_as_found


def test_where_nobody_answers_or_a_token_is_wanted_it_says_what_to_do(room, terminal, worker, tmp_path):
    nobody = terminal("top", "--admin", "http://127.0.0.1:9")
    assert nobody.ends() == 69
    assert "--admin" in nobody.text
    token = tmp_path / "token"
    token.write_text("0123456789abcdef" * 2)
    strict = worker(admin__token_file=str(token))
    refused = terminal("top", "--admin", strict.admin)
    assert refused.ends() == 1
    assert "--token-file" in refused.text
    view = terminal("top", "--admin", strict.admin, "--token-file", str(token))
    view.shows(strict.incarnation)


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=20, check=False)


def test_once_leaves_the_terminal_alone(room):
    done = run(*top(room, "--once"))
    assert done.returncode == 0 and "\x1b" not in done.stdout
    assert all(worker.incarnation in done.stdout for worker in room.workers)


def test_json_is_an_object_a_line_with_rates(room):
    line, = run(*top(room, "--once", "--json")).stdout.splitlines()
    told = json.loads(line)
    assert {"time", "worker", "ready", "redis", "total", "workers", "conversations", "events"} <= set(told)
    names = [each["incarnation"] for each in told["workers"] if each["alive"]]
    assert {worker.incarnation for worker in room.workers} <= set(names)
    assert "lease begun" in [event["message"] for event in told["events"]]
    assert set(told["total"]) == {"sessions", "rates"}


def test_without_a_terminal_there_is_a_line_each_interval(room):
    child = subprocess.Popen([PROGRAM, *top(room)], stdout=subprocess.PIPE, text=True)
    try:
        lines = [child.stdout.readline() for _ in range(2)]
    finally:
        child.terminate()
    assert all(re.match(r"\d+ workers?.* sessions  .* signals/s  ", line) for line in lines), lines
    assert child.wait(10) == 0
    child.stdout.close()
    assert eventually("it has ended", lambda: child.poll() is not None)
