"""The unit on a machine booted by a real systemd: a systemd-nspawn container with the programs of this machine."""

import os
import re
import shutil
import subprocess

import pytest

from deployment import PROGRAM, ROOT

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("systemd-nspawn"), reason="wants root and systemd-nspawn")

REDIS = "[Service]\nExecStart=/usr/bin/redis-server --save ''\n"
CHECK = """[Unit]
After=basic.target
[Service]
Type=oneshot
ExecStart=/bin/bash /check/boot.sh
StandardOutput=file:/check/said
"""
# None of these affects a worker, and some take long.
MASKED = ["systemd-networkd-wait-online", "systemd-sysctl", "ldconfig", "systemd-journal-catalog-update",
          "systemd-hwdb-update"]


def make_machine(root):
    """A root folder with the result of `make install`, and this machine's programs."""
    root.chmod(0o755)
    for folder in ("usr", "etc/systemd/system", "check", "tmp", "var"):
        (root / folder).mkdir(parents=True)
    for link in ("bin", "sbin", "lib", "lib64"):
        (root / link).symlink_to(f"usr/{link}")
    shutil.copy("/usr/lib/os-release", root / "etc/os-release")
    for account in ("passwd", "group", "nsswitch.conf"):
        shutil.copy(f"/etc/{account}", root / "etc")
    subprocess.run(
        ["scripts/install", PROGRAM], check=True, cwd=ROOT,
        env={**os.environ, "DESTDIR": str(root), "PREFIX": "/opt/rollcall"})
    subprocess.run(["scripts/make-secrets", root / "etc/rollcall/secrets"], check=True, cwd=ROOT, capture_output=True)
    (root / "etc/rollcall/b.env").write_text("ROLLCALL_EDGE_PORT=8090\nROLLCALL_ADMIN_PORT=8091\n")
    units = root / "etc/systemd/system"
    shutil.copy(root / "opt/rollcall/lib/systemd/system/rollcall@.service", units)
    (units / "redis.service").write_text(REDIS)
    found = f"Environment=LD_LIBRARY_PATH={':'.join(libraries().values())}\n"
    (units / "check.service").write_text(CHECK + found)
    (units / "rollcall@.service.d").mkdir()
    (units / "rollcall@.service.d/libraries.conf").write_text("[Service]\n" + found)
    shutil.copy(ROOT / "Tests/Operations/boot.sh", root / "check")


def libraries():
    """The folders of Swift's libraries, which a debug build does not contain. The unit cannot read home folders, where
    Swift may be installed: in the machine, they are at another path."""
    linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
    folders = {os.path.dirname(path) for path in re.findall(r"=> (/\S+)", linked)}
    apart = sorted(folder for folder in folders if not folder.startswith(("/lib", "/usr")))
    return {folder: f"/opt/swift/{number}" for number, folder in enumerate(apart)}


def nspawn(root, *arguments):
    # In a process namespace that ends with unshare, since the machine survives a systemd-nspawn that is killed.
    return subprocess.run(
        ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "systemd-nspawn",
         "--quiet", "--register=no", "--keep-unit", "--private-network", "--console=pipe",
         f"--machine=rollcall-{os.getpid()}", f"--directory={root}", "--bind-ro=/usr",
         *(f"--bind-ro={folder}:{place}" for folder, place in libraries().items()), *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)


def boot(root):
    if nspawn(root, "/bin/true").returncode != 0:
        pytest.skip("no machine can be had inside this one")
    ended = nspawn(
        root, "--boot", "systemd.unit=check.service", *(f"systemd.mask={unit}.service" for unit in MASKED))
    said = root / "check/said"
    assert said.exists(), ended.stdout + ended.stderr
    return said.read_text()


def may_raise_limits():
    """Whether LimitNICE can take effect; in some containers it cannot."""
    return subprocess.run(["prlimit", "--nice=24", "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    root = tmp_path_factory.mktemp("machine")
    make_machine(root)
    return boot(root)


def test_two_workers_run_as_the_unit_says(said):
    # Devices are sent the worker's name: it must not contain the host's.
    ready = r"ready worker=worker-[0-9a-f]{{8}}\.\w+ edge=ws://127.0.0.1:{}/v1/connect"
    assert "started\n" in said
    assert re.search("status: " + ready.format(8080), said), said
    assert re.search("other: " + ready.format(8090), said), said
    assert "somebody typed\n" in said


def test_they_may_do_little_and_miss_nothing(said):
    assert "a user of its own\n" in said
    assert "CapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n" in said
    log = [line for line in said.splitlines() if line.startswith("log: ")]
    assert any("lease begun" in line for line in log)
    complaints = r"not permitted|[Dd]enied" + ("|errno" if may_raise_limits() else "")
    assert not [line for line in log if re.search(complaints, line)]


def test_they_stop_start_and_stay_down_as_an_operator_expects(said):
    assert "restarted\n" in said
    assert "after a crash: active\n" in said
    assert "stopped: success\n" in said
    assert "with a wrong configuration: failed 78, again 0 times\n" in said
    assert "did you mean ROLLCALL_EDGE_PORT" in said
