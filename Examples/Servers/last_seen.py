#!/usr/bin/env python3
"""Keeps in SQLite who is there, and since when the others are not: from a worker's events, without missing any.

usage: ROLLCALL_ADMIN=http://127.0.0.1:8081 ROLLCALL_TOKEN=… last_seen.py people.db

The place in the stream is stored together with what was read, so it can be ended at any moment and started again.
"""

import json
import os
import sqlite3
import sys
import time
import urllib.request

ADMIN = os.environ.get("ROLLCALL_ADMIN", "http://127.0.0.1:8081")
HEADERS = {"Authorization": f"Bearer {os.environ.get('ROLLCALL_TOKEN', '')}", "Content-Type": "application/json"}

db = sqlite3.connect(sys.argv[1])
db.executescript("""
    CREATE TABLE IF NOT EXISTS people (user TEXT PRIMARY KEY, status TEXT, last_seen INTEGER, version INTEGER);
    CREATE TABLE IF NOT EXISTS place (next TEXT);
""")


def ask(path, body=None):
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(ADMIN + path, data, HEADERS), timeout=60) as answer:
        return json.load(answer)


def take(presence):
    """Of each user, what has the greatest version counts."""
    db.execute(
        """INSERT INTO people VALUES (:user, :status, :last_seen, :version) ON CONFLICT (user) DO UPDATE
           SET status = :status, last_seen = :last_seen, version = :version WHERE :version > version""", presence)


def read_again():
    """After a reset: forgets the versions, and reads what is stored of everybody."""
    db.execute("UPDATE people SET version = -1")
    users = [user for (user,) in db.execute("SELECT user FROM people")]
    for first in range(0, len(users), 1000):
        for presence in ask("/v1/presence", {"users": users[first:first + 1000], "stored": True})["users"]:
            take(presence)


while True:
    try:
        (place,) = db.execute("SELECT next FROM place").fetchone() or ("0",)
        page = ask(f"/v1/events?after={place}&wait=30s")
        with db:  # one transaction: all of a page and its place, or nothing
            for event in page["events"]:
                if event.get("type") == "reset":
                    read_again()
                elif "status" in event:  # and not of another type
                    take(event)
            db.execute("DELETE FROM place")
            db.execute("INSERT INTO place VALUES (?)", [page["next"]])
    except OSError as error:
        print(f"{error}; trying again", file=sys.stderr)
        time.sleep(1)
