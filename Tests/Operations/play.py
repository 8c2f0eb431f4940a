"""Runs one section of the documentation in a separate world: each command as it is written. The output must be what the
page shows.

Usage: play.py SECTION, such as 'docs/identity.md: Making tokens'; started by world.BEGIN
"""

import re
import shutil
import sys
import time

import choices
import documentation
import world
from deployment import eventually


def shape(line):
    """Removes from a line what differs each time: identifiers, timestamps, remaining times."""
    line = re.sub(r"\b[0-9a-f]{12,16}\b", "*", line)
    line = re.sub(r'("expires_in":|· )\d+', r"\1*", line)
    # Redis rounds the remaining time of a typing, which is up to three seconds.
    line = re.sub(r"\(integer\) 2$", "(integer) 3", line)
    return " ".join(line.split())


def fields(lines):
    """The fields of a hash as redis-cli lists them, one line for each name and value; their order varies."""
    words = [line.split(") ", 1)[-1] for line in lines]
    return sorted(zip(words[::2], words[1::2]))


def in_order(found, wanted):
    lines = iter(found)
    return all(any(line == one for line in lines) for one in wanted)


def shows(text, command):
    """Whether the lines that the page shows are among the text's, in this order. Lines of events are compared with those
    that start with the same word, since events of different kinds may overtake each other."""
    found, wanted = [shape(line) for line in text.splitlines()], [shape(line) for line in command.shown]
    if "HGETALL" in command.text and wanted:
        return fields(found) == fields(wanted)
    if command.text:
        return in_order(found, wanted)
    subjects = {line.split()[0] for line in wanted}
    return all(in_order(found, [line for line in wanted if line.split()[0] == subject]) for subject in subjects)


class Player:
    def __init__(self, section):
        self.section = section
        self.folder = world.make_folder()
        self.shell = world.Terminal(self.folder)
        self.others = []

    def play(self):
        for command in choices.GIVEN.get(self.section.name, choices.USUAL):
            code, text = self.shell.do(command)
            assert code == 0, f"taken for granted: {command}\n{text}"
        for command in self.section.commands:
            if not choices.reason(command.text):
                self.run(command)
        for command, terminal in self.others:
            code = terminal.shell.poll()
            assert not code, f"{self.place(command)}: ended with {code}\n{terminal.text}"

    def place(self, command):
        return f"{self.section.page}:{command.line}: {command.text}"

    def run(self, command):
        print(self.place(command), flush=True)
        if not command.text:
            self.was_shown(command)
        elif choices.STAYS.search(command.text) and not command.text.endswith("&"):
            self.leave_running(command)
        else:
            self.do(command)

    def do(self, command):
        """Repeats a command that only reads until it shows what the page does, as a person would."""
        end = time.monotonic() + 30
        while True:
            start = len(self.shell.text)
            code, text = self.shell.do(command.text)
            assert code == 0, f"{self.place(command)}: ended with {code}\n{text}"
            looks = command.text.startswith(("redis-cli", "curl"))
            if not looks or shows(text, command) or time.monotonic() > end:
                break
        self.appears(command, lambda: [text if looks else self.shell.text[start:]], max(0, end - time.monotonic()))

    def leave_running(self, command):
        """Runs a command in a separate terminal, with the variables of the first one."""
        state = f"{self.folder}/.state"
        self.shell.do(f"{{ declare -p; }} >{state} 2>/dev/null")
        terminal = world.Terminal(self.folder, state)
        terminal.last(command.text)
        self.others.append((command, terminal))
        eventually(f"{self.place(command)} shows something", lambda: terminal.text or terminal.shell.poll() == 0, 30)
        self.appears(command, lambda: [terminal.text], 30)

    def was_shown(self, command):
        """Output without a command is what one of the terminals shows by now."""
        self.appears(command, lambda: [terminal.text for _, terminal in self.others], 30)

    def appears(self, command, texts, within):
        end = time.monotonic() + within
        while not any(shows(text, command) for text in texts() or [""]):
            assert time.monotonic() < end, "\n".join(
                [f"{self.place(command)}: does not show", *command.shown, "but", *texts()])
            time.sleep(0.02)


def main(name):
    world.raise_loopback()
    player = Player(next(section for section in documentation.sections() if section.name == name))
    try:
        player.play()
    except AssertionError as difference:
        sys.exit(str(difference))
    finally:
        shutil.rmtree(player.folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
