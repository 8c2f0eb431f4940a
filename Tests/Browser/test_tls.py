"""A worker that serves TLS itself, without a proxy in front of it, and a page that was loaded with TLS."""

import pages


def test_a_page_connects_to_a_worker_under_tls(page, worker, room, certificate):
    own = worker(edge__certificate=certificate.chain, edge__private_key=certificate.key)
    assert own.edge.startswith("wss://")
    page.run(
        """
        const [url, user, room] = arguments;
        const client = new rollcall.RollcallClient({ url, token: () => user });
        keep("connection", client.connection);
        keep("presence", client.presence(user));
        client.connect();
        """, own.edge, room.alice, room.name)
    page.until("she is connected", "seen.connection.at(-1)?.value.status === 'connected'")
    page.until("and seen", "seen.presence.at(-1)?.value.status === 'online'")


def test_c4_a_page_of_https_says_why_it_cannot_use_ws(driver, certificate):
    with pages.serving(certificate) as origin:
        page = pages.Page(driver, f"{origin}/page.html")
        page.run("window.client = new rollcall.RollcallClient({ url: 'ws://chat.example', token: 'alice' }); client.connect()")
        page.until("it says why", "client.connection.latest.error?.message.includes('use wss://')")
        page.close()
