"""Runs docker-compose.sentinel.yml: the loss of the primary. Started by world.BEGIN."""

import shutil

import compose
import world
from deployment import eventually

SERVERS = ["redis", "redis-2", "redis-3"]
SENTINELS = ["sentinel-1", "sentinel-2", "sentinel-3"]


def knows_all(story, sentinel):
    said = story.ask(sentinel, "-p", "26379", "SENTINEL", "MASTER", "mymaster")
    return "num-slaves\n2\n" in said and "num-other-sentinels\n2\n" in said


def in_step(story, primary):
    """Returns how many replicas are in sync with their primary."""
    return story.ask(primary, "INFO", "replication").count("state=online")


def play(story):
    for server in SERVERS:
        story.all[server].start()
    for server in SERVERS:
        story.all[server].until_healthy()
    for sentinel in SENTINELS:
        story.all[sentinel].start()
    # Before that, the primary refuses writes (min-replicas-to-write). This may take longer than a worker waits at
    # startup; compose would restart it.
    eventually("the replicas are in step", lambda: in_step(story, "redis") == 2, 30)
    story.all["worker"].start()
    eventually("the worker is ready", lambda: "ready worker=" in story.all["worker"].log.read_text(), 30)
    assert all(story.worker_is_nobody_else(server) for server in SERVERS)
    assert story.members({"alice": "Alice"})
    # Sentinels learn of replicas every ten seconds, and reconfigure only those that they know.
    eventually("each sentinel knows all", lambda: all(knows_all(story, sentinel) for sentinel in SENTINELS), 60)
    story.all["redis"].kill()
    eventually("the worker goes on", lambda: story.members({"bob": "Bob"}), 60)
    story.all["redis"].start()
    eventually("it is back as a replica", lambda: story.ask("redis", "ROLE").startswith("slave"), 60)
    assert "Bob" in story.members()


def main():
    world.raise_loopback()
    story = compose.Story("docker-compose.yml", "docker-compose.sentinel.yml")
    try:
        play(story)
    except BaseException:
        for name, service in story.all.services.items():
            print(f"{name}:\n{service.log.read_text() if service.log.exists() else ''}")
        raise
    finally:
        shutil.rmtree(story.all.root, ignore_errors=True)


if __name__ == "__main__":
    main()
