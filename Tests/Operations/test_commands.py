"""Runs the commands of README.md and docs as they are written."""

import re
import subprocess
import sys

import pytest

import choices
import documentation
import world

ALL = documentation.sections()
RUN = [section for section in ALL if not all(choices.reason(each.text) for each in section.commands if each.text)]


@pytest.mark.skipif(not world.is_possible(), reason="this system gives no network of its own to a process")
@pytest.mark.parametrize("section", RUN, ids=lambda section: section.name)
def test_does_what_the_page_shows(section):
    played = subprocess.run(
        [*world.BEGIN, sys.executable, "-u", f"{documentation.ROOT}/Tests/Operations/play.py", section.name],
        capture_output=True, text=True, timeout=240, check=False)
    assert played.returncode == 0, played.stdout + played.stderr


def test_nothing_is_left_out_or_taken_for_granted_that_no_page_has():
    texts = [command.text for section in ALL for command in section.commands]
    assert [pattern for pattern, _ in choices.NOT_RUN if not any(re.match(pattern, text) for text in texts)] == []
    assert set(choices.GIVEN) <= {section.name for section in ALL}


def test_a_page_is_read_by_section_and_command():
    page = "# A\n```console\n$ one \\\n  more\nshown\n```\n## B\n```\n$ no\n```\n- In a list:\n  ```console\n  alone\n  ```"
    first, second = documentation.read("a.md", page)
    assert (first.name, second.name) == ("a.md: A", "a.md: B")
    assert [(command.text, command.shown) for command in first.commands] == [("one \\\nmore", ["shown"])]
    assert [(command.text, command.shown) for command in second.commands] == [("", ["alone"])]
