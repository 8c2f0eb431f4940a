"""The compose files, as far as they can be run without Docker."""

import shutil
import subprocess
import sys

import pytest
import yaml

import compose
import documentation
import world
from deployment import ROOT


@pytest.mark.skipif(not world.is_possible(), reason="this system gives no network of its own to a process")
@pytest.mark.parametrize("story", [
    pytest.param("cluster", id="a cluster is made once, and outlives a restart of all and the loss of a primary"),
    pytest.param("sentinel", id="sentinels replace a lost primary"),
])
def test_the_story_of(story):
    played = subprocess.run(
        [*world.BEGIN, sys.executable, "-u", f"{documentation.ROOT}/Tests/Operations/{story}.py"],
        capture_output=True, text=True, timeout=240, check=False)
    assert played.returncode == 0, played.stdout + played.stderr


def test_workers_know_no_password_but_their_own_users():
    for files in ([], ["docker-compose.sentinel.yml"], ["docker-compose.cluster.yml"]):
        services = compose.merged("docker-compose.yml", *files)
        assert services["worker"]["secrets"] == ["redis_password", "jwt_secret", "admin_token"]
        for name, service in services.items():
            if name.startswith("sentinel"):
                assert service["secrets"] == ["redis_servers_password"]


def test_devices_reach_the_proxy_under_tls_alone():
    services = compose.merged("docker-compose.yml")
    assert services["haproxy"]["secrets"] == ["edge.pem"]
    assert not any("ports" in service for name, service in services.items() if name != "haproxy")
    binds = [line.split() for line in (ROOT / "Config/haproxy.cfg").read_text(encoding="utf-8").splitlines() if "bind " in line]
    assert [(words[1], "ssl" in words) for words in binds] == [(":8443", True)]


@pytest.mark.parametrize("more", [[], ["docker-compose.sentinel.yml"], ["docker-compose.cluster.yml"]])
def test_the_proxy_sees_the_addresses_of_devices(more):
    """Regression: Docker forwards IPv6 to a container without IPv6 itself. So the proxy saw all such devices as one address,
    and its limits for an address locked them out."""
    assert compose.merged("docker-compose.yml", *more)["haproxy"]["ports"] == ["0.0.0.0:8443:8443"]


def test_secrets_are_made_once_and_all_that_compose_names(tmp_path):
    def make():
        subprocess.run([ROOT / "scripts/make-secrets", tmp_path], check=True, capture_output=True)
        return {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    made = make()
    named = {
        secret for file in ROOT.glob("docker-compose*.yml")
        for secret in yaml.safe_load(file.read_text(encoding="utf-8")).get("secrets", {})}
    assert named <= made.keys() == named | {"edge_certificate.pem", "redis_servers_password"}
    assert make() == made


def make_certificate(certificate, key, days, name="localhost"):
    request = subprocess.run(
        ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
         f"/CN={name}", "-keyout", key], check=True, capture_output=True)
    subprocess.run(
        ["openssl", "x509", "-req", "-signkey", key, "-days", str(days), "-out", certificate],
        input=request.stdout, check=True, capture_output=True)


@pytest.mark.parametrize(
    "days, name, is_replaced", [(-1, "localhost", True), (-1, "chat.example", False), (1, "localhost", False)])
def test_only_an_expired_certificate_for_trials_is_replaced(tmp_path, days, name, is_replaced):
    folder = tmp_path / "secrets"
    subprocess.run([ROOT / "scripts/make-secrets", folder], check=True, capture_output=True)
    certificate, edge = tmp_path / "certificate", folder / "edge.pem"
    make_certificate(certificate, tmp_path / "key", days, name)
    before = certificate.read_text() + (tmp_path / "key").read_text()
    edge.write_text(before)
    (folder / "edge_certificate.pem").write_text(certificate.read_text())
    secret = (folder / "jwt_secret").read_text()
    for _ in range(2):
        subprocess.run([ROOT / "scripts/make-secrets", folder], check=True, capture_output=True)
    assert (edge.read_text() != before) == is_replaced
    assert (folder / "jwt_secret").read_text() == secret
    if is_replaced:
        assert edge.read_text().startswith((folder / "edge_certificate.pem").read_text())
        subprocess.run(["openssl", "x509", "-checkend", "86400", "-noout", "-in", edge], check=True, capture_output=True)


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_renewal_that_was_interrupted_is_completed(tmp_path, is_missing):
    """Regression: edge_certificate.pem never became what edge.pem has, and clients that trust it refused the proxy."""
    folder = tmp_path / "secrets"
    subprocess.run([ROOT / "scripts/make-secrets", folder], check=True, capture_output=True)
    make_certificate(tmp_path / "certificate", tmp_path / "key", 1)
    new = (tmp_path / "certificate").read_text()
    (folder / "edge.pem").write_text(new + (tmp_path / "key").read_text())
    if is_missing:
        (folder / "edge_certificate.pem").unlink()
    subprocess.run([ROOT / "scripts/make-secrets", folder], check=True, capture_output=True)
    assert (folder / "edge_certificate.pem").read_text() == new
    assert (folder / "edge.pem").read_text() == new + (tmp_path / "key").read_text()


def test_a_missing_certificate_does_not_keep_an_expired_one(tmp_path):
    folder = tmp_path / "secrets"
    subprocess.run([ROOT / "scripts/make-secrets", folder], check=True, capture_output=True)
    make_certificate(tmp_path / "certificate", tmp_path / "key", -1)
    edge, trusted = folder / "edge.pem", folder / "edge_certificate.pem"
    edge.write_text((tmp_path / "certificate").read_text() + (tmp_path / "key").read_text())
    trusted.unlink()
    subprocess.run([ROOT / "scripts/make-secrets", folder], check=True, capture_output=True)
    assert edge.read_text().startswith(trusted.read_text())
    subprocess.run(["openssl", "x509", "-checkend", "86400", "-noout", "-in", edge], check=True, capture_output=True)


@pytest.mark.parametrize("mark, lack", [("BEGIN CERTIFICATE", "no certificate"), ("BEGIN PRIVATE KEY", "no private key")])
def test_a_certificate_file_that_was_cut_off_is_shown(tmp_path, mark, lack):
    """Regression: HAProxy did not start, and running the script again changed and said nothing."""
    folder = tmp_path / "secrets"
    subprocess.run([ROOT / "scripts/make-secrets", folder], check=True, capture_output=True)
    edge = folder / "edge.pem"
    cut = edge.read_text()[:edge.read_text().index(mark) + 60]
    edge.write_text(cut)
    made = subprocess.run([ROOT / "scripts/make-secrets", folder], capture_output=True, text=True, check=False)
    assert made.returncode == 69 and lack in made.stderr and "remove the file and run this again" in made.stderr
    assert edge.read_text() == cut
    edge.unlink()
    subprocess.run([ROOT / "scripts/make-secrets", folder], check=True, capture_output=True)
    assert edge.read_text().startswith((folder / "edge_certificate.pem").read_text())


def test_a_failure_of_openssl_is_shown(tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "dirname", "mkdir", "chmod", "head", "od", "tr", "cat", "rm"):
        (programs / name).symlink_to(shutil.which(name))

    def make():
        return subprocess.run(
            ["sh", ROOT / "scripts/make-secrets", tmp_path / "secrets"], env={"PATH": str(programs)},
            capture_output=True, text=True, check=False)

    made = make()
    assert made.returncode == 69 and "install openssl" in made.stderr
    (programs / "openssl").write_text("#!/bin/sh\necho a strange option >&2\nexit 1\n")
    (programs / "openssl").chmod(0o755)
    made = make()
    assert made.returncode == 69 and "a strange option" in made.stderr
    assert not (tmp_path / "secrets/edge.pem").exists()


def test_every_node_of_the_cluster_has_a_volume_and_an_address_of_its_own():
    services = compose.merged("docker-compose.yml", "docker-compose.cluster.yml")
    nodes = [service for name, service in services.items() if name.startswith("redis")]
    volumes = {mount.split(":")[0] for node in nodes for mount in node["volumes"] if mount.endswith(":/data")}
    addresses = {node["networks"]["cluster"]["ipv4_address"] for node in nodes}
    assert len(nodes) == len(volumes) == len(addresses) == 6
