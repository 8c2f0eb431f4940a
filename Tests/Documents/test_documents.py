"""The documents alone: each one conforms to its standard, and its references resolve."""

import jsonschema
import openapi_spec_validator
import pytest
import yaml

from deployment import ROOT


def test_the_openapi_document_is_one():
    openapi_spec_validator.validate(yaml.safe_load((ROOT / "docs/openapi.yaml").read_text()))


def references(tree):
    if isinstance(tree, dict):
        if "$ref" in tree:
            yield tree["$ref"]
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            yield from references(part)


def resolved(tree, reference):
    assert reference.startswith("#/"), reference
    for part in reference[2:].split("/"):
        tree = tree[part]
    return tree


@pytest.mark.parametrize("which", ["edge", "channels"])
def test_an_asyncapi_document_hangs_together(which, request):
    document = request.getfixturevalue(which)
    tree = document.tree
    assert tree["asyncapi"] == "3.0.0" and {"title", "version"} <= tree["info"].keys()
    used = set(references(tree))
    for reference in used:
        resolved(tree, reference)
    for kind in ("messages", "schemas"):
        assert {f"#/components/{kind}/{name}" for name in tree["components"][kind]} <= used, f"unused {kind}"
    for operation in tree["operations"].values():
        assert operation["action"] in ("send", "receive")
        assert operation["channel"]["$ref"].startswith("#/channels/")
    for message in tree["components"]["messages"].values():
        jsonschema.Draft202012Validator.check_schema(message["payload"])
    for schema in tree["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
