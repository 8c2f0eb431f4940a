"""Compares the edge's AsyncAPI document with the frames in the codec's tests, valid and invalid."""

import copy
import json
import re

import pytest

from deployment import ROOT

GOLDEN = json.loads((ROOT / "Tests/RollcallModelTests/golden-frames.json").read_text())
FRAMES = [("hear", frame) for frame in GOLDEN["client"]] + [("tell", frame) for frame in GOLDEN["worker"]]
# Optional fields.
OPTIONAL = {"id", "device", "state", "presence", "name", "after", "to"}


@pytest.mark.parametrize("operation, frame", FRAMES)
def test_a_golden_frame_is_exactly_one_message(edge, operation, frame):
    message = json.loads(frame)
    assert len(edge.kinds(message, operation)) == 1, edge.complaint(message, operation)


@pytest.mark.parametrize("operation, frame", FRAMES)
def test_a_broken_frame_is_none(edge, operation, frame):
    for broken, how in mutations(json.loads(frame)):
        assert not edge.kinds(broken, operation), f"{how}: {broken}"


def test_every_message_has_a_golden_frame(edge):
    seen = {kind for operation, frame in FRAMES for kind in edge.kinds(json.loads(frame), operation)}
    assert seen == set(edge.tree["components"]["messages"])


def test_every_error_code_has_a_golden_frame(edge):
    source = (ROOT / "Sources/RollcallModel/Messages/MessageError.swift").read_text()
    known = re.findall(r'static let \w+ = Code\(rawValue: "(\w+)"\)', source)
    told = [message["code"] for _, frame in FRAMES if (message := json.loads(frame))["type"] == "error"]
    listed = edge.tree["components"]["messages"]["error"]["payload"]["properties"]["code"]["enum"]
    assert sorted(told) == sorted(known) == sorted(listed)


def objects(tree, path=()):
    """Returns every object in a message, with its path."""
    if isinstance(tree, dict):
        yield path
    for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from objects(part, (*path, key))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def mutations(message):
    """Returns variants of the message with one error each."""
    for path in list(objects(message)):
        place = at(message, path)
        yield changed(message, path, lambda it: it.update(surprise=1)), f"a field too many at {path}"
        for key in place:
            # `name` is required in some objects and optional in others, and so is `device`.
            if key not in OPTIONAL or (key == "device" and message["type"] == "welcome"):
                if not (key == "state" and message["type"] == "hello"):
                    yield changed(message, path, lambda it, key=key: it.pop(key)), f"{key} is missing at {path}"
            yield changed(message, path, lambda it, key=key: it.update({key: [{"x": 1}]})), f"{key} is a list at {path}"
            if isinstance(place[key], str) and key not in ("name", "token", "message", "id"):
                yield changed(message, path, lambda it, key=key: it.update({key: "a {b"})), f"{key} is no word at {path}"
            if isinstance(place[key], int) and not isinstance(place[key], bool) and key not in ("id", "version"):
                yield changed(message, path, lambda it, key=key: it.update({key: -1})), f"{key} is negative at {path}"
            if key == "id":
                yield changed(message, path, lambda it: it.update(id="x" * 65)), "an id too long"


def changed(message, path, change):
    message = copy.deepcopy(message)
    change(at(message, path))
    return message
