"""`make release` says what a release is made of, exactly, and `make install` puts that beside it."""

import hashlib
import json
import re
import shutil
import subprocess

import pytest

from conftest import Installation
from deployment import ROOT

UUID = re.compile(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@pytest.fixture(name="release", scope="module")
def made_release(tmp_path_factory):
    """A folder in which `make release` ran, with a stub in the place of the compiler."""
    folder = tmp_path_factory.mktemp("release")
    for name in ("Makefile", "Package.resolved"):
        shutil.copy(ROOT / name, folder)
    for name in ("scripts", "Config"):
        shutil.copytree(ROOT / name, folder / name)
    version = "Sources/RollcallShards/Node/HeartbeatText.swift"
    (folder / version).parent.mkdir(parents=True)
    shutil.copy(ROOT / version, folder / version)
    built = folder / ".build/release/rollcall"
    built.parent.mkdir(parents=True)
    built.write_text("#!/bin/sh\necho a program\n", encoding="utf-8")
    compiler = folder / "stub"
    compiler.write_text(
        '#!/bin/sh\n[ "$1" != --version ] || echo "Apple Swift version 7.8.9 (swift-7.8.9-RELEASE)"\n',
        encoding="utf-8")
    compiler.chmod(0o755)
    subprocess.run(["make", "--silent", "release", f"SWIFT={compiler}"], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(name="sbom", scope="module")
def read_sbom(release):
    return json.loads((release / ".build/install/rollcall.cdx.json").read_text(encoding="utf-8"))


def test_every_package_is_named_with_the_version_and_the_commit_of_the_build(sbom):
    pins = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]
    assert len(pins) > 20
    named = {
        (component["externalReferences"][0]["url"], component["version"], component["properties"][0]["value"])
        for component in sbom["components"] if "properties" in component}
    assert named == {(pin["location"], pin["state"]["version"], pin["state"]["revision"]) for pin in pins}
    by_name = {component["name"]: component for component in sbom["components"]}
    nio = by_name["swift-nio"]
    assert nio["purl"] == f"pkg:swift/github.com/apple/swift-nio@{nio['version']}"
    # Some locations end with .git, which is no part of a name.
    assert by_name["swift-crypto"]["purl"] == f"pkg:swift/github.com/apple/swift-crypto@{by_name['swift-crypto']['version']}"


def test_hiredis_swift_and_the_program_itself_are_named(sbom, release):
    by_name = {component["name"]: component["version"] for component in sbom["components"]}
    compiled = subprocess.run(
        ["cc", "-E", "-P", "-include", "hiredis/hiredis.h", "-"], check=True, capture_output=True, text=True,
        input="VERSION HIREDIS_MAJOR HIREDIS_MINOR HIREDIS_PATCH").stdout
    assert by_name["hiredis"] == ".".join(compiled.split("VERSION")[-1].split())
    assert by_name["swift"] == "7.8.9"
    program = sbom["metadata"]["component"]
    assert program["name"] == "rollcall" and re.fullmatch(r"\d+\.\d+\.\d+", program["version"])
    content = (release / ".build/install/rollcall").read_bytes()
    assert program["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]


def test_it_has_what_cyclonedx_1_5_requires_and_nothing_that_it_does_not_know(sbom):
    assert sbom.keys() == {"bomFormat", "specVersion", "serialNumber", "version", "metadata", "components"}
    assert (sbom["bomFormat"], sbom["specVersion"], sbom["version"]) == ("CycloneDX", "1.5", 1)
    assert UUID.fullmatch(sbom["serialNumber"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", sbom["metadata"]["timestamp"])
    known = {
        "type", "bom-ref", "group", "name", "version", "scope", "purl", "description", "externalReferences", "properties"}
    references = [component["bom-ref"] for component in sbom["components"]]
    assert len(set(references)) == len(references)
    for component in sbom["components"]:
        assert {"type", "name", "version", "purl"} <= component.keys() <= known
        assert component["type"] == "library" and component["scope"] == "required"


def test_a_release_at_the_same_time_of_the_same_sources_differs_in_its_number_alone(release, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setenv("SWIFT", str(release / "stub"))
    documents = []
    for name in ("first", "second"):
        file = release / name
        subprocess.run(["scripts/sbom", release / ".build/install/rollcall", file], cwd=release, check=True)
        documents.append(json.loads(file.read_text(encoding="utf-8")))
    assert documents[0].pop("serialNumber") != documents[1].pop("serialNumber")
    assert documents[0] == documents[1] and documents[0]["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"


def test_it_is_installed_beside_the_documentation_and_taken_away_again(release, tmp_path):
    """With a program that can say what its manual and completions hold."""
    place = tmp_path / "made"
    place.mkdir()
    shutil.copy(release / ".build/install/rollcall.cdx.json", place)
    installation = Installation(tmp_path / "root")
    (place / "rollcall").symlink_to(installation.program)
    installation.make("install", program=place / "rollcall")
    installed = installation / "usr/local/share/doc/rollcall/rollcall.cdx.json"
    assert installed.read_bytes() == (place / "rollcall.cdx.json").read_bytes()
    installation.make("uninstall")
    assert not installed.exists()


def test_a_program_without_a_list_does_not_keep_the_one_installed_before(release, tmp_path):
    installation = Installation(tmp_path / "root")
    for name in ("listed", "unlisted"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rollcall").symlink_to(installation.program)
    shutil.copy(release / ".build/install/rollcall.cdx.json", tmp_path / "listed")
    installed = installation / "usr/local/share/doc/rollcall/rollcall.cdx.json"
    installation.make("install", program=tmp_path / "listed/rollcall")
    assert installed.exists()
    installation.make("install", program=tmp_path / "unlisted/rollcall")
    assert not installed.exists()


def test_a_release_whose_list_fails_does_not_keep_the_list_of_the_one_before(release, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(release, folder)
    (folder / "scripts/sbom").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    made = subprocess.run(
        ["make", "--silent", "release", f"SWIFT={folder / 'stub'}"], cwd=folder, check=False, capture_output=True)
    assert made.returncode != 0 and (folder / ".build/install/rollcall").exists()
    assert not (folder / ".build/install/rollcall.cdx.json").exists()
