"""The compose files, as far as they can be run without Docker."""

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
    assert services["haproxy"]["ports"] == ["8443:8443"]
    assert services["haproxy"]["secrets"] == ["edge.pem"]
    assert not any("ports" in service for name, service in services.items() if name != "haproxy")
    binds = [line.split() for line in (ROOT / "Config/haproxy.cfg").read_text(encoding="utf-8").splitlines() if "bind " in line]
    assert [(words[1], "ssl" in words) for words in binds] == [(":8443", True)]


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


def test_every_node_of_the_cluster_has_a_volume_and_an_address_of_its_own():
    services = compose.merged("docker-compose.yml", "docker-compose.cluster.yml")
    nodes = [service for name, service in services.items() if name.startswith("redis")]
    volumes = {mount.split(":")[0] for node in nodes for mount in node["volumes"] if mount.endswith(":/data")}
    addresses = {node["networks"]["cluster"]["ipv4_address"] for node in nodes}
    assert len(nodes) == len(volumes) == len(addresses) == 6
