"""The commands in the documentation's pages: blocks of ```console, by section."""

import dataclasses
import re

from deployment import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@dataclasses.dataclass
class Command:
    """The text after a $, and the output shown below it. Without a $, the output belongs to an earlier command."""

    text: str
    line: int
    shown: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Section:
    """The commands under one heading. Readers may start there, so no other section is required."""

    page: str
    title: str
    commands: list[Command] = dataclasses.field(default_factory=list)

    @property
    def name(self):
        return f"{self.page}: {self.title}"


def sections():
    """All sections with commands, in the order of the pages."""
    return [section for page in PAGES for section in read(page.relative_to(ROOT).as_posix(), page.read_text())]


def read(page, text):
    found, fence = [Section(page, page)], None
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if line.startswith("```"):
            fence = line[3:].strip() if fence is None else None
            if fence == "console":
                found[-1].commands.append(Command("", number))
        elif fence == "console":
            take(found[-1].commands, line, number)
        elif fence is None and (heading := re.match(r"#+ (.*)", line)):
            found.append(Section(page, heading[1]))
    for section in found:
        section.commands = [command for command in section.commands if command.text or command.shown]
    return [section for section in found if section.commands]


def take(commands, line, number):
    """Adds a line of a block to its commands; a backslash at the end continues a command on the next line."""
    last = commands[-1]
    if line.startswith("$ "):
        commands.append(Command(line[2:], number))
    elif last.text.endswith("\\"):
        last.text += "\n" + line
    elif line:
        last.shown.append(line)
