// Which client address a request is attributed to.

import NIOCore
import NIOHTTP1
import Testing

@testable import RollcallServer

@Suite("Trusted proxies")
struct TrustedProxiesTests {
    private func client(_ proxies: [String], peer: String, _ hops: String...) throws -> String? {
        let headers = HTTPHeaders(hops.map { ("X-Forwarded-For", $0) })
        return TrustedProxies(proxies).client(of: try SocketAddress(ipAddress: peer, port: 1), headers)
    }

    @Test("the header counts from a trusted proxy, and from no other sender")
    func believed() throws {
        #expect(try client([], peer: "10.0.0.5", "203.0.113.7") == "10.0.0.5")
        #expect(try client(["10.0.0.5"], peer: "10.0.0.5", "203.0.113.7") == "203.0.113.7")
        #expect(try client(["10.0.0.5"], peer: "10.0.0.6", "203.0.113.7") == "10.0.0.6")
        #expect(try client(["10.0.0.0/8"], peer: "10.255.1.2", "2001:db8::7") == "2001:db8::7")
        #expect(try client(["10.0.0.0/8"], peer: "11.0.0.1", "203.0.113.7") == "11.0.0.1")
        #expect(try client(["10.0.0.5"], peer: "10.0.0.5") == "10.0.0.5")
    }

    @Test("of several hops, the nearest that is not a trusted proxy counts; what it claims does not")
    func hops() throws {
        let proxies = ["10.0.0.0/8", "192.0.2.1"]
        #expect(try client(proxies, peer: "10.0.0.5", "1.2.3.4, 203.0.113.7, 192.0.2.1") == "203.0.113.7")
        #expect(try client(proxies, peer: "10.0.0.5", "1.2.3.4", "203.0.113.7", "10.9.9.9") == "203.0.113.7")
        #expect(try client(proxies, peer: "10.0.0.5", "10.1.1.1, 10.2.2.2") == "10.1.1.1")
    }

    @Test("ports are ignored, and an invalid address ends the search")
    func forms() throws {
        #expect(try client(["127.0.0.1"], peer: "127.0.0.1", "203.0.113.7:4711") == "203.0.113.7")
        #expect(try client(["127.0.0.1"], peer: "127.0.0.1", "[2001:db8::7]:4711") == "2001:db8::7")
        #expect(try client(["127.0.0.1"], peer: "127.0.0.1", "203.0.113.7, unknown") == "127.0.0.1")
        #expect(try client(["127.0.0.1"], peer: "127.0.0.1", "\u{1B}[2J") == "127.0.0.1")
    }

    @Test("networks may have any prefix length, and IPv4-mapped IPv6 counts as IPv4")
    func networks() throws {
        #expect(try client(["172.16.0.0/12"], peer: "172.31.255.255", "1.1.1.1") == "1.1.1.1")
        #expect(try client(["172.16.0.0/12"], peer: "172.32.0.0", "1.1.1.1") == "172.32.0.0")
        #expect(try client(["fd00::/8"], peer: "fdff::1", "1.1.1.1") == "1.1.1.1")
        #expect(try client(["10.0.0.0/8"], peer: "::ffff:10.1.2.3", "1.1.1.1") == "1.1.1.1")
        #expect(try client(["0.0.0.0/0"], peer: "9.9.9.9", "1.1.1.1") == "1.1.1.1")
        #expect(try client(["0.0.0.0/0"], peer: "::1", "1.1.1.1") == "::1")
    }

    @Test(
        "invalid networks are rejected",
        arguments: ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/", "a/8", "1.1.1.1/8/8", "1.1.1.1/-1"])
    func unusable(text: String) {
        #expect(!TrustedProxies.isNetwork(text))
    }
}
