"""The compose files, as far as they can be played without Docker."""

import subprocess
import sys

import pytest

import compose
import documentation
import world


@pytest.mark.skipif(not world.is_possible(), reason="this system gives no network of its own to a process")
def test_a_cluster_is_made_once_and_outlives_a_restart_of_all_and_the_loss_of_a_primary():
    played = subprocess.run(
        [*world.BEGIN, sys.executable, "-u", f"{documentation.ROOT}/Tests/Operations/cluster.py"],
        capture_output=True, text=True, timeout=240, check=False)
    assert played.returncode == 0, played.stdout + played.stderr


def test_every_node_of_the_cluster_has_a_volume_and_an_address_of_its_own():
    services = compose.merged("docker-compose.yml", "docker-compose.cluster.yml")
    nodes = [service for name, service in services.items() if name.startswith("redis")]
    volumes = {mount.split(":")[0] for node in nodes for mount in node["volumes"] if mount.endswith(":/data")}
    addresses = {node["networks"]["cluster"]["ipv4_address"] for node in nodes}
    assert len(nodes) == len(volumes) == len(addresses) == 6
