"""Runs docker-compose.cluster.yml: a cluster is created once, survives a restart of all services, and the loss of a
primary. Started by world.BEGIN."""

import shutil

import compose
import world
from deployment import eventually

NODES = ["redis", *(f"redis-{number}" for number in range(2, 7))]


class Story(compose.Story):
    def up(self):
        """Starts services as compose does: each when its dependencies are healthy."""
        for node in NODES:
            self.all[node].start()
        for node in NODES:
            self.all[node].until_healthy()
        self.all["cluster"].start()
        self.all["cluster"].until_completed()
        self.all["worker"].start()
        eventually("the worker is ready", lambda: "ready worker=" in self.all["worker"].log.read_text(), 30)

    def are_in_step(self):
        """Whether each replica is in sync with its primary: only then can it be promoted."""
        return sum("connected" in self.ask(node, "ROLE").split() for node in NODES) == 3

    def down(self):
        for name in ["worker", *NODES]:
            self.all[name].stop()

    def roles(self):
        return [self.ask(node, "ROLE").partition("\n")[0] for node in NODES]


def play(story):
    story.up()
    assert story.roles() == ["master"] * 3 + ["slave"] * 3
    assert story.worker_is_nobody_else("redis")
    assert story.members({"alice": "Alice"})
    story.down()
    story.up()
    assert "Alice" in story.members()
    eventually("each replica could take its primary's place", story.are_in_step, 30)
    # This primary holds the keys of c42.
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
    story = Story("docker-compose.yml", "docker-compose.cluster.yml")
    try:
        play(story)
    finally:
        shutil.rmtree(story.all.root, ignore_errors=True)


if __name__ == "__main__":
    main()
