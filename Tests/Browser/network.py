"""A network between a page and a worker that can be cut, and what may stand there."""

import contextlib
import socket
import threading

from deployment import free_port


class Network:
    """Forwards bytes to a worker's port and back."""

    def __init__(self, port):
        self.target = port
        self.pairs = []
        self.accepts = True
        # Linux keeps a port that was asked for while nobody listens; one that it chose itself, it gives away.
        self.listener = socket.create_server(("127.0.0.1", free_port()))
        self.port = self.listener.getsockname()[1]
        self._listen()

    def _listen(self):
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def edge(self):
        return f"ws://127.0.0.1:{self.port}/v1/connect"

    def cut(self):
        """Ends every connection, and refuses new ones."""
        self.accepts = False
        for pair in self.pairs:
            for end in pair:
                # This also wakes the thread that reads from it.
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        self.pairs = []

    def mend(self):
        self.accepts = True

    def close(self):
        self.cut()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.accepts:
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()
            else:
                near.close()

    def _serve(self, near):
        self._forward(near, b"", self.target)

    def _forward(self, near, head, port):
        try:
            far = socket.create_connection(("127.0.0.1", port))
            far.sendall(head)
        except OSError:
            near.close()
            return
        self.pairs.append((near, far))
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source, sink):
        try:
            while data := source.recv(65_536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Front(Network):
    """
    A site and its workers at one address. It passes only WebSockets on to the workers, unless `plain` is absent. While it is
    `away`, it does not listen, or answers so.
    """

    def __init__(self, worker, site, plain=None, csp=None, away=None):
        self.site = site
        self.plain = plain
        self.csp = csp
        self.away = away
        self.isAway = False
        self.requests = []
        super().__init__(worker)

    def _serve(self, near):
        head = b""
        with contextlib.suppress(OSError):
            while b"\r\n\r\n" not in head and (data := near.recv(65_536)):
                head += data
        path, isUpgrade = head.partition(b" ")[2].partition(b" ")[0], b"upgrade: websocket" in head.lower()
        if path.startswith(b"/v1/connect"):
            self.requests.append("upgrade" if isUpgrade else "plain")
            if self.isAway:
                return self._answer(near, self.away)
            if isUpgrade or self.plain is None:
                return self._forward(near, head, self.target)
            return self._answer(near, self.plain)
        if path == b"/sw.js":
            return self._answer(near, "200 OK\r\nContent-Type: text/javascript", SERVICE_WORKER)
        if path == b"/page.html" and self.csp:
            with socket.create_connection(("127.0.0.1", self.site)) as far:
                far.sendall(head)
                page = b"".join(iter(lambda: far.recv(65_536), b"")).partition(b"\r\n\r\n")[2]
            return self._answer(near, f"200 OK\r\nContent-Type: text/html\r\nContent-Security-Policy: {self.csp}", page.decode())
        return self._forward(near, head, self.site)

    def goes(self):
        self.isAway = self.away is not None
        if not self.isAway:
            # The port stays bound, or the next connection of any process could get it.
            self.cut()
            return self.listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        self.mend()

    def comes(self):
        if self.away is None:
            self.mend()
            self._listen()
        self.isAway = False

    @staticmethod
    def _answer(near, status, body="the site"):
        with contextlib.suppress(OSError), near:
            near.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body.encode())}\r\nConnection: close\r\n\r\n{body}".encode())


# Answers all plain requests, as one that keeps a site usable without a network.
SERVICE_WORKER = """
    addEventListener("install", () => skipWaiting());
    addEventListener("activate", (event) => event.waitUntil(clients.claim()));
    addEventListener("fetch", (event) => {
      if (event.request.url.includes("/v1/connect")) event.respondWith(new Response("offline"));
    });
"""
