"""Tests a worker with TLS, with a client that shares no code with it and trusts only one certificate authority.

Usage: tls.py EDGE AUTHORITY, the edge of a worker that accepts user names as tokens.
"""

import asyncio
import json
import ssl
import sys

from websockets.asyncio.client import connect


async def main(edge, authority):
    trusting = ssl.create_default_context(cafile=authority)
    async with connect(edge, ssl=trusting) as socket:
        await socket.send(json.dumps({"type": "hello", "token": "alice", "device": "python"}))
        welcome = json.loads(await socket.recv())
        assert welcome["type"] == "welcome" and welcome["user"] == "alice", welcome
        await socket.send(json.dumps({"type": "get", "users": ["alice"], "id": 1}))
        presence = json.loads(await socket.recv())
        assert presence["type"] == "presence", presence
        print(socket.transport.get_extra_info("ssl_object").version())
        await socket.send(json.dumps({"type": "goodbye"}))
        await socket.wait_closed()
        assert socket.close_code == 1000, socket.close_code
    try:
        await connect(edge, ssl=ssl.create_default_context())
    except ssl.SSLCertVerificationError:
        return
    raise AssertionError("a stranger's certificate was taken")


asyncio.run(main(*sys.argv[1:]))
