"""docs/errors.md lists exactly the codes and messages of the sources."""

import http
import re

import pytest

from deployment import ROOT

PAGE = (ROOT / "docs/errors.md").read_text()


def sources(*folders):
    return "\n".join(file.read_text() for folder in folders for file in sorted((ROOT / "Sources").glob(folder)))


def rows(title):
    """The first cells of a section's table."""
    section = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def cases(file, enumeration):
    """The raw values of an enum's cases."""
    body = re.search(rf"enum {enumeration}: String[^{{]*\{{(.*?)\n    \}}", sources(file), re.DOTALL)[1]
    return [raw or name for name, raw in re.findall(r'^ +case `?(\w+)`?(?: = "(\w+)")?$', body, re.MULTILINE)]


def constants(file, kind):
    """The raw values of a type that permits unknown values."""
    return re.findall(rf'static let \w+ = {kind}\(rawValue: "?(\w+)"?\)', sources(file))


def statuses():
    """The status codes of refused handshakes, by their HTTP names."""
    names = re.findall(r"status: \.(\w+)", sources("RollcallEdge/Handshake/Refusal.swift"))
    return [str(http.HTTPStatus[re.sub("([A-Z])", r"_\1", name).upper()].value) for name in names]


def logged():
    parts = ("Admin", "Configuration", "Edge", "Listener", "Node", "Redis", "Shards", "Worker")
    code = sources(*(f"Rollcall{part}/**/*.swift" for part in parts))
    return re.findall(r'\.(?:warning|error|critical)\(\s*"([^"]+)"', code)


def exits():
    return ["0", "1", "64", *re.findall(r"ExitCode\((\d+)\)", sources("rollcall/Rollcall.swift"))]


SHARDS, MESSAGES = "RollcallShards", "RollcallModel/Messages"


@pytest.mark.parametrize("title, wanted", [
    ("Exit codes", exits()),
    ("Problems of the configuration", cases(f"{SHARDS}/Configuration/ConfigurationProblem.swift", "Code")),
    ("What the log says", logged()),
    ("Answers to the handshake", statuses()),
    ("Close codes", constants(f"{MESSAGES}/CloseCode.swift", "CloseCode")),
    ("Reasons of a goodbye", constants(f"{MESSAGES}/CloseCode.swift", "GoodbyeReason")),
    ("Errors in a session", constants(f"{MESSAGES}/MessageError.swift", "Code")),
    ("Refused tokens", cases(f"{SHARDS}/Authentication/AuthenticationError.swift", "Code")),
    ("Problems of the admin port", cases("RollcallAdmin/AdminProblem.swift", "Code")),
    ("Errors of the clients", cases("RollcallClient/RollcallError.swift", "Code")),
], ids=lambda value: value if isinstance(value, str) else "")
def test_the_page_has_what_the_sources_have(title, wanted):
    assert len(set(wanted)) > 2
    assert sorted(rows(title)) == sorted(set(wanted))


def test_the_page_says_why_a_worker_does_not_start():
    sentences = sources("RollcallShards/CannotServe.swift", "RollcallListener/ListenError.swift")
    for words in ("no Redis at", "another program does", "ports below 1024 need a privilege", "has no such address"):
        assert words in sentences and words in PAGE


def test_its_own_links_lead_somewhere():
    headings = {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-")
                for heading in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)}
    assert set(re.findall(r"\(#([\w-]+)\)", PAGE)) <= headings
