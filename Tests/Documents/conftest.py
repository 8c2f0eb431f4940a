"""Fixtures: one Redis with two workers, and the documents."""

import secrets

import pytest

from deployment import Redis, Worker, stopping
from documents import Document

TOKEN = secrets.token_hex(16)


@pytest.fixture
def redis():
    with stopping(Redis()) as server:
        yield server


@pytest.fixture
def token_file(tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    return file


@pytest.fixture
def workers(redis, token_file):
    settings = {"admin__token_file": token_file, "log__level": "notice", "presence__grace": "2s"}
    with stopping(Worker("w1", redis, None, **settings)) as first:
        with stopping(Worker("w2", redis, None, **settings)) as second:
            yield first, second


@pytest.fixture(scope="session")
def edge():
    return Document("asyncapi-edge.yaml")


@pytest.fixture(scope="session")
def channels():
    return Document("asyncapi-redis.yaml")
