"""Runs compose files without containers: each service's command as written, with a folder instead of the container's
file system, and a loopback address for its name. Requires a separate world."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import urllib.error
import urllib.request

import yaml

from deployment import PROGRAM, ROOT, eventually


def merged(*files):
    """The services of these files, merged as far as Rollcall's files need it."""
    services = {}
    for file in files:
        for name, new in yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))["services"].items():
            old = services.get(name, {})
            mounts = {mount.split(":")[1]: mount for mount in old.get("volumes", []) + new.get("volumes", [])}
            environment = old.get("environment", {}) | new.get("environment", {})
            services[name] = old | new | {"volumes": list(mounts.values()), "environment": environment}
    return services


class Composition:
    def __init__(self, *files):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="rollcall-compose-"))
        self.services = {}
        hosts = "127.0.0.1 localhost\n"
        for number, (name, service) in enumerate(merged(*files).items(), 11):
            address = f"127.29.71.{number}"
            hosts += f"{address} {name}\n"
            self.services[name] = Service(name, service, address, self.root)
        subprocess.run([ROOT / "scripts/make-secrets", self.root / "secrets"], check=True, capture_output=True)
        (self.root / "hosts").write_text(hosts, encoding="utf-8")
        subprocess.run(["mount", "--bind", self.root / "hosts", "/etc/hosts"], check=True)

    def __getitem__(self, name):
        return self.services[name]

    def secret(self, name):
        return (self.root / "secrets" / name).read_text(encoding="utf-8")


class Service:
    """The process of a service; its folder is its volume too, and survives it."""

    def __init__(self, name, service, address, root):
        self.name, self.service, self.address = name, service, address
        self.folder = root / name
        self.places = {
            "/run/secrets": root / "secrets", "/etc/redis": self.folder / "etc", "/tmp": self.folder / "tmp",
            "/data": self.folder / "data"}
        self.process = None
        for place in ("etc", "tmp", "data"):
            (self.folder / place).mkdir(parents=True)
        for mount in service["volumes"]:
            source, target, *_ = mount.split(":")
            if source.startswith("./Config/redis"):
                text = (ROOT / source).read_text(encoding="utf-8")
                pathlib.Path(self.here(target)).write_text(self.here(text), encoding="utf-8")

    def here(self, text):
        """Translates words of a container for a world in which all services are on one machine."""
        pattern = rf"(?<![\w.])({'|'.join(map(re.escape, self.places))})\b"
        text = re.sub(pattern, lambda match: str(self.places[match[0]]), text)
        text = text.replace("port 26379\n", f"port 26379\nbind {self.address}\n")
        return text.replace("bind * -::*", f"bind {self.address}\nbind-source-addr {self.address}")

    def start(self):
        # Compose writes $ as $$.
        told = [self.here(word.replace("$$", "$")) for word in self.service.get("command", [])]
        environment = {key: self.here(str(value)) for key, value in self.service["environment"].items()}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                told or [PROGRAM, "worker"], env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)

    @property
    def log(self):
        return self.folder / "log"

    def is_healthy(self):
        test = self.here(self.service["healthcheck"]["test"][1].replace("$$", "$"))
        test = test.replace("redis-cli ", f"redis-cli -h {self.name} ")
        return subprocess.run(["sh", "-c", test], check=False).returncode == 0

    def until_healthy(self):
        eventually(f"{self.name} is healthy", self.is_healthy, 30)

    def until_completed(self):
        assert self.process.wait(60) == 0, f"{self.name} failed:\n{self.log.read_text()}"

    def stop(self):
        """Waits for dependencies as compose does."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self):
        self.process.kill()
        self.process.wait(30)


class Story:
    """Queries running services with all of the secrets."""

    def __init__(self, *files):
        self.all = Composition(*files)

    def ask(self, node, *words):
        return subprocess.run(
            ["redis-cli", "-h", node, *words], check=False, capture_output=True, text=True,
            env={**os.environ, "REDISCLI_AUTH": self.all.secret("redis_admin_password")}).stdout

    def members(self, names=None):
        """Sets the members of c42, or reads them."""
        request = urllib.request.Request(
            "http://127.0.0.1:8081/v1/conversations/c42/members", method="PUT" if names else "GET",
            data=json.dumps({"members": names}).encode() if names else None,
            headers={"Authorization": f"Bearer {self.all.secret('admin_token')}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.read().decode() or "done"
        except urllib.error.HTTPError as refusal:
            assert refusal.code == 503, refusal.read()
            return None

    def worker_is_nobody_else(self, server):
        """Whether the worker's password is valid only for the worker's user."""
        said = subprocess.run(
            ["redis-cli", "-h", server, "ACL", "WHOAMI"], check=False, capture_output=True, text=True,
            env={**os.environ, "REDISCLI_AUTH": self.all.secret("redis_password")})
        return "WRONGPASS" in said.stdout + said.stderr
