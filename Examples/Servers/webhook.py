#!/usr/bin/env python3
"""Receives events as a webhook, checks who sent them, stores them, and prints who came and who went.

usage: pip install standardwebhooks; WEBHOOK_SECRET=whsec_… webhook.py 9000 people.db

With events.webhook.url: http://127.0.0.1:9000/ in the workers' configuration. In front of other machines, put TLS before it.
"""

import http.server
import json
import os
import sqlite3
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
db = sqlite3.connect(sys.argv[2] if len(sys.argv) > 2 else "people.db")
db.execute("CREATE TABLE IF NOT EXISTS people (user TEXT PRIMARY KEY, status TEXT, version INTEGER)")


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            webhook.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError:
            return self.answer(401)
        with db:  # one transaction: all of a delivery, or nothing
            for event in json.loads(body)["events"]:
                take(event)
        # Only now that it is stored: what is answered otherwise is delivered again.
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def take(event):
    if event.get("type") == "reset":
        db.execute("UPDATE people SET version = -1")
        print("reset: read again whom you keep", flush=True)
        return
    if "status" not in event:  # of another type
        return
    known = db.execute("SELECT status FROM people WHERE user = :user", event).fetchone()
    stored = db.execute(  # a delivery may come twice
        """INSERT INTO people VALUES (:user, :status, :version) ON CONFLICT (user) DO UPDATE
           SET status = :status, version = :version WHERE :version > version""", event)
    if stored.rowcount and known != (event["status"],):  # after a reset each connected user comes once more
        print(event["user"], event["status"], flush=True)


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
