"""HAProxy with the operators' configuration and certificate, in front of two workers: all connections use TLS."""

import contextlib
import re
import resource
import select
import socket
import ssl
import subprocess
import time
from urllib.parse import urlsplit

import pytest

from deployment import ROOT, Process, Worker, eventually, free_port, stopping

HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: rollcall\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n")


class Proxy(Process):
    """The configuration, except for the container's ports and names."""

    def __init__(self, folder, workers):
        self.port = free_port()
        text = (ROOT / "Config/haproxy.cfg").read_text(encoding="utf-8")
        servers = "".join(
            f"    server w{worker.port} 127.0.0.1:{worker.port} port {urlsplit(worker.admin).port}\n" for worker in workers)
        for pattern, new in [
            (r"bind :8443", f"bind 127.0.0.1:{self.port}"),
            (r"/run/secrets/edge.pem", str(folder / "secrets/edge.pem")),
            (r"resolvers containers\n(    .*\n)*", ""),
            (r" resolvers containers init-addr none", ""),
            (r" port 8081", ""),
            (r"    server-template .*\n", servers),
        ]:
            text, count = re.subn(pattern, new, text)
            assert count == 1, pattern
        subprocess.run([ROOT / "scripts/make-secrets", folder / "secrets"], check=True, capture_output=True)
        self.trust = ssl.create_default_context(cafile=folder / "secrets/edge_certificate.pem")
        file = folder / "haproxy.cfg"
        file.write_text(text, encoding="utf-8")
        # As many connections as docker-compose.yml permits, or more than this test makes.
        command = ["sh", "-c", 'ulimit -n 4096; exec haproxy -f "$1"', "haproxy", file]
        super().__init__(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def connect(self, address, path="/v1/connect", more=""):
        """A connection from a local address, and the status of its handshake response."""
        plain = socket.create_connection(("127.0.0.1", self.port), 10, (address, 0))
        try:
            connection = self.trust.wrap_socket(plain, server_hostname="localhost")
        except BaseException:
            plain.close()
            raise
        connection.sendall(HANDSHAKE.format(path=path, more=more).encode())
        answer = b""
        while b"\r\n" not in answer:
            some = connection.recv(4096)
            assert some, answer
            answer += some
        return connection, int(answer.split()[1])

    def status(self, *arguments, **more):
        connection, status = self.connect(*arguments, **more)
        connection.close()
        return status


@pytest.fixture(name="proxy", scope="module")
def running_proxy(redis, tmp_path_factory):
    with contextlib.ExitStack() as stack:
        folder = tmp_path_factory.mktemp("haproxy")
        log = stack.enter_context((folder / "log").open("wb"))
        workers = [
            stack.enter_context(stopping(Worker(
                f"behind{number}", redis, "*", log, edge__trusted_proxies="127.0.0.1", log__level="debug",
                limits__hello="2m", edge__ping="2m")))
            for number in (1, 2)]
        proxy = stack.enter_context(stopping(Proxy(folder, workers)))
        proxy.told = (folder / "log").read_text

        def is_up():
            with contextlib.suppress(OSError):
                return proxy.status("127.0.0.2") == 101

        eventually("HAProxy has found a worker", is_up, 20)
        yield proxy


def test_devices_reach_a_worker_and_nothing_else_does(proxy):
    assert proxy.status("127.0.0.2") == 101
    for path in ("/", "/metrics", "/v1/presence/alice"):
        assert proxy.status("127.0.0.2", path=path) == 404


def test_nothing_is_answered_without_tls_or_with_an_old_one(proxy):
    with socket.create_connection(("127.0.0.1", proxy.port), 10) as plain:
        plain.sendall(HANDSHAKE.format(path="/v1/connect", more="").encode())
        with contextlib.suppress(ConnectionError):
            assert b"HTTP" not in plain.recv(4096)
    for version, ciphers, is_taken in [
            ("-tls1_1", "DEFAULT", False), ("-tls1_2", "DEFAULT", True), ("-tls1_3", "DEFAULT", True),
            ("-tls1_2", "ECDHE-ECDSA-AES128-GCM-SHA256", True), ("-tls1_2", "ECDHE-ECDSA-CHACHA20-POLY1305", True),
            # Without authenticated encryption.
            ("-tls1_2", "ECDHE-ECDSA-AES128-SHA", False)]:
        shaken = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{proxy.port}", version, "-cipher",
             f"{ciphers}@SECLEVEL=0"],
            input="", capture_output=True, text=True, check=False)
        assert ("Verify return code" in shaken.stdout and "Cipher is (NONE)" not in shaken.stdout) == is_taken, shaken


def test_the_certificate_for_trials_is_good_for_this_machine_alone(proxy):
    for name, is_named in [("localhost", True), ("127.0.0.1", True), ("chat.example.org", False)]:
        with socket.create_connection(("127.0.0.1", proxy.port), 10) as plain:
            try:
                proxy.trust.wrap_socket(plain, server_hostname=name).close()
                assert is_named, name
            except ssl.SSLCertVerificationError:
                assert not is_named, name
    with pytest.raises(ssl.SSLCertVerificationError), socket.create_connection(("127.0.0.1", proxy.port), 10) as plain:
        ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")


def test_workers_hear_from_the_proxy_alone_where_devices_come_from(proxy):
    assert proxy.status("127.0.0.3", more="X-Forwarded-For: 10.9.9.9\r\n") == 101
    eventually("the log has the address", lambda: "client=127.0.0.3" in proxy.told())
    assert "10.9.9.9" not in proxy.told()


def test_one_address_has_so_many_connections_and_others_notice_nothing(proxy):
    """Connections are opened more slowly than the other limit permits."""
    with contextlib.ExitStack() as stack:
        statuses = []
        for number in range(520):
            connection, status = proxy.connect("127.0.0.4")
            stack.enter_context(connection)
            statuses.append(status)
            if number in (200, 400):
                time.sleep(11)
        assert statuses == [101] * 500 + [429] * 20
        assert proxy.status("127.0.0.5") == 101
    eventually("the address may connect again", lambda: proxy.status("127.0.0.4") == 101)


def is_closed(connection, timeout):
    connection.settimeout(timeout)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def open_silently(port, address):
    """A connection, or none if it was closed before this returned."""
    with contextlib.suppress(ConnectionError):
        return socket.create_connection(("127.0.0.1", port), 10, (address, 0))


def count_closed(connections):
    """Counts those that can be read: nobody sends anything on them."""
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLIN)
    return len(poll.poll(0))


def test_beyond_1000_silent_connections_of_one_address_new_ones_are_closed_before_tls(proxy):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard) if hard >= 0 else 4096, hard))
    try:
        with contextlib.ExitStack() as stack:
            opened = [open_silently(proxy.port, "127.0.0.7") for _ in range(1020)]
            silent = [stack.enter_context(connection) for connection in opened if connection]
            # HAProxy's threads accept them in any order.
            eventually("the surplus of 20 is closed", lambda: len(silent) - count_closed(silent) == 1000, 5)
            assert proxy.status("127.0.0.5") == 101
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    eventually("the address may connect again", lambda: proxy.status("127.0.0.7") == 101)


def test_a_connection_that_begins_no_tls_handshake_is_closed_after_10_s(proxy):
    with socket.create_connection(("127.0.0.1", proxy.port), 10, ("127.0.0.8", 0)) as silent:
        assert not is_closed(silent, 8)
        assert is_closed(silent, 5)


def test_one_address_opens_so_many_in_a_while_and_refused_ones_do_not_count(proxy):
    """Otherwise, the attempts of an office during an outage would keep it out when the workers are back."""
    def attempts(count, path="/v1/connect", more=""):
        statuses = [proxy.status("127.0.0.6", path, more) for _ in range(count)]
        return {status: statuses.count(status) for status in set(statuses)}

    # A worker refuses this request.
    assert attempts(600, more="Content-Length: 1\r\n").keys() == {426}
    begun = time.monotonic()
    found = attempts(560)
    assert found.get(429, 0) > 0 or time.monotonic() - begun > 9, found
    assert found[101] >= 500
    assert proxy.status("127.0.0.5") == 101
