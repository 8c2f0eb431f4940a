"""The story of docker-compose.cluster.yml: a cluster is made once, outlives a restart of all, and the loss of a primary.
Started by world.BEGIN."""

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request

import world
from compose import Composition
from deployment import eventually

NODES = ["redis", *(f"redis-{number}" for number in range(2, 7))]


class Story:
    def __init__(self):
        self.all = Composition("docker-compose.yml", "docker-compose.cluster.yml")

    def up(self):
        """As compose does it: each when those are well that it depends on."""
        for node in NODES:
            self.all[node].start()
        for node in NODES:
            self.all[node].until_healthy()
        self.all["cluster"].start()
        self.all["cluster"].until_completed()
        self.all["worker"].start()
        eventually("the worker is ready", lambda: "ready worker=" in self.all["worker"].log.read_text(), 30)

    def are_in_step(self):
        """Whether each replica has what its primary has: before, it does not take its place."""
        return sum("connected" in self.ask(node, "ROLE").split() for node in NODES) == 3

    def down(self):
        for name in ["worker", *NODES]:
            self.all[name].stop()

    def ask(self, node, *words):
        return subprocess.run(
            ["redis-cli", "-h", node, *words], check=False, capture_output=True, text=True,
            env={**os.environ, "REDISCLI_AUTH": self.all.secret("redis_password")}).stdout

    def roles(self):
        return [self.ask(node, "ROLE").partition("\n")[0] for node in NODES]

    def members(self, names=None):
        """Puts the members of c42, or reads them."""
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


def play(story):
    story.up()
    assert story.roles() == ["master"] * 3 + ["slave"] * 3
    assert story.members({"alice": "Alice"})
    story.down()
    story.up()
    assert "Alice" in story.members()
    eventually("each replica could take its primary's place", story.are_in_step, 30)
    # It has what belongs to c42.
    story.all["redis-2"].kill()
    eventually("its replica takes its place", lambda: story.roles()[3:].count("master") == 1, 30)
    eventually("the worker goes on", lambda: story.members({"bob": "Bob"}), 30)
    story.all["redis-2"].start()
    eventually("it is back as a replica", lambda: story.roles()[1] == "slave", 30)
    story.down()
    story.up()
    assert story.roles()[1] == "slave" and "Bob" in story.members()


def main():
    world.raise_loopback()
    story = Story()
    try:
        play(story)
    finally:
        shutil.rmtree(story.all.root, ignore_errors=True)


if __name__ == "__main__":
    main()
