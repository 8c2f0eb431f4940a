"""docs/features.md and the names of tests use the same codes, and the files that the page names exist."""

import re

from deployment import ROOT

PAGE = (ROOT / "docs/features.md").read_text()
TESTS = [file for file in sorted((ROOT / "Tests").rglob("*")) if file.suffix in (".swift", ".js", ".py")]
ROWS = re.findall(r"^\| ([A-Z]\d+|–) \| .+ \| (.+) \|$", PAGE, re.MULTILINE)
CODES = [code for code, _ in ROWS if code != "–"]


def codes(file):
    """The codes in a file's names of tests: "T1: …" and "X1, X2: …" in stories, test_t1_… in Python."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return {code.upper() for code in re.findall(r"^def test_([a-z]\d+)_", text, re.MULTILINE)}
    lists = re.findall(r'^ +"((?:[A-Z]\d+(?:, )?)+): ', text, re.MULTILINE) if file.suffix == ".js" else []
    return {code for found in lists for code in found.split(", ")}


def names(cell):
    """The files that a row names; those in Swift without their suffix."""
    return re.findall(r"`([^`]+)`", cell)


USED = {file: found for file in TESTS if (found := codes(file))}


def test_each_code_has_one_row():
    assert len(CODES) > 30 and len(CODES) == len(set(CODES))


def test_each_code_in_a_test_name_has_a_row():
    assert {code for found in USED.values() for code in found} <= set(CODES)


def test_each_row_names_the_files_that_use_its_code():
    for code, cell in ROWS:
        using = {file.name for file, found in USED.items() if code in found}
        assert code == "–" or using, f"no test name uses {code}"
        assert using <= set(names(cell)), code


def test_each_file_in_a_row_exists():
    known = {file.name.removesuffix(".swift") for file in TESTS}
    for code, cell in ROWS:
        assert names(cell) and set(names(cell)) <= known, (code, cell)


def test_each_row_is_read():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| code |")]
    assert len(rows) == len(ROWS)
