"""A network between a page and a worker that can be cut."""

import socket
import threading


class Network:
    """Forwards bytes to a worker's port and back."""

    def __init__(self, port, own=0):
        self.target = port
        self.pairs = []
        self.accepts = True
        self.listener = socket.create_server(("127.0.0.1", own))
        self.port = self.listener.getsockname()[1]
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
            try:
                if not self.accepts:
                    raise OSError("no network")
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
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
