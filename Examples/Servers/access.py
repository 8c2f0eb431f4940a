#!/usr/bin/env python3
"""Says who may join which conversation, and checks who asks.

usage: pip install standardwebhooks; ACCESS_SECRET=whsec_… access.py 9000

With access.url: http://127.0.0.1:9000/ in the workers' configuration. In front of other machines, put TLS before it.
"""

import http.server
import json
import os
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["ACCESS_SECRET"])
chats = {"c42": ["alice", "bob"]}  # your database


def answer(question):
    people = chats.get(question["conversation"], [])
    return {**question, "allow": question["user"] in people, "people": people[:100]}


class Access(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            webhook.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError:
            self.send_response(401)
            return self.end_headers()
        self.send_response(200)
        self.end_headers()
        answers = [answer(question) for question in json.loads(body)["questions"]]
        self.wfile.write(json.dumps({"answers": answers}).encode())

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Access).serve_forever()
