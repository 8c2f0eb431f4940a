#!/usr/bin/env python3
"""Receives events as a webhook, checks who sent them, and prints who came and who went.

usage: pip install standardwebhooks; WEBHOOK_SECRET=whsec_… webhook.py 9000

With events.webhook.url: http://127.0.0.1:9000/ in the workers' configuration. In front of other machines, put TLS before it.
"""

import http.server
import json
import os
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
versions = {}


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            webhook.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError:
            return self.answer(401)
        for event in json.loads(body)["events"]:
            take(event)
        # Only now: what is answered otherwise is delivered again.
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def take(event):
    if event.get("type") == "reset":
        versions.clear()
        print("reset: read again whom you keep", flush=True)
    elif event["version"] > versions.get(event["user"], -1):  # a delivery may come twice
        versions[event["user"]] = event["version"]
        print(event["user"], event["status"], flush=True)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
