// The proxy must do what it claims, or the faults prove nothing.

import NIOCore
import TestSupport
import Testing

@testable import Harness

@Suite("The proxy between two processes")
struct ProxyTests {
    @Test("forwards bytes in both directions, and the end of each side to the other")
    func clear() async throws {
        let stand = try await Stand()
        let client = try await stand.client()
        try await client.send("hello")
        try await client.heard("hello")
        let server = try await stand.server()
        try await server.close()
        try await eventually("the client hears the end") { client.isClosed }
    }

    @Test("delays bytes, in order, when slow")
    func slow() async throws {
        let stand = try await Stand()
        let client = try await stand.client()
        try await stand.proxy.set(.slow(.milliseconds(100)))
        let sent = ContinuousClock.now
        for word in ["a", "b", "c"] { try await client.send(word) }
        try await client.heard("abc")
        #expect(ContinuousClock.now - sent >= .milliseconds(200), "once there and once back")
    }

    @Test("holds bytes while stalled and forwards them later, even if their sender is long gone")
    func stalled() async throws {
        let stand = try await Stand()
        let client = try await stand.client()
        let server = try await stand.server()
        try await stand.proxy.set(.stalled)
        try await client.send("last words")
        try await eventually("they are held") { try await stand.proxy.heldBytes() == 10 }
        try await client.reset()
        try await Task.sleep(for: .milliseconds(50))
        #expect(server.text.isEmpty && !server.isClosed)
        try await stand.proxy.set(.clear)
        try await server.heard("last words")
        try await eventually("the server hears the end") { server.isClosed }
    }

    @Test("drops bytes while lossy")
    func lossy() async throws {
        let stand = try await Stand()
        let client = try await stand.client()
        try await stand.proxy.set(.lossy)
        try await client.send("lost")
        try await eventually("they are lost") { try await stand.proxy.lostBytes() == 4 }
        try await stand.proxy.set(.clear)
        try await client.send("found")
        try await client.heard("found")
    }

    @Test("a cut ends open connections, and new ones are reset while refusing", arguments: [Cut.fin, .reset])
    func cut(_ how: Cut) async throws {
        let stand = try await Stand()
        let client = try await stand.client()
        _ = try await stand.server()
        try await stand.proxy.set(.refusing)
        try await client.send("still here")
        try await client.heard("still here")
        try await stand.proxy.cut(how)
        try await eventually("the client hears the end") { client.isClosed }
        let refused = try? await stand.client()
        try await eventually("the newcomer is thrown out") { refused?.isClosed ?? true }
        try await stand.proxy.set(.clear)
        let welcome = try await stand.client()
        try await welcome.send("again")
        try await welcome.heard("again")
    }

    @Test("a worker's two kinds of connections are distinguished by their names")
    func traffic() async throws {
        let stand = try await Stand(isRedis: true)
        let (commands, subscriber) = (try await stand.client(), try await stand.client())
        let named = "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n"
        try await commands.send(named + "$11\r\nrollcall-w1\r\n")
        try await subscriber.send(named)
        try await subscriber.send("$17\r\nrollcall-w1-hears\r\n")
        try await eventually("both are known") {
            let known = (try await stand.proxy.connections(.commands), try await stand.proxy.connections(.subscribers))
            return known == (1, 1)
        }
        try await stand.proxy.cut(.reset, .subscribers)
        try await eventually("the subscriber's is cut") { subscriber.isClosed }
        #expect(!commands.isClosed)
    }

    @Test("the settings of each worker, node and other client are independent")
    func callers() async throws {
        let stand = try await Stand(isRedis: true)
        let named = "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$11\r\n"
        let id = String(repeating: "a", count: 40)
        let openings = [
            named + "rollcall-w0\r\n", named + "rollcall-w1\r\n", "*1\r\n$4\r\nPING\r\n",
            "RCmb" + String(repeating: ".", count: 36) + id,
        ]
        try await stand.proxy.tell(nodes: ["b", id])
        try await stand.proxy.set(.stalled, for: [.worker(0), .node(1)])
        var clients: [Line] = []
        for opening in openings {
            clients.append(try await stand.client())
            try await clients[clients.count - 1].send(opening)
        }
        for place in [1, 2] { try await clients[place].heard(openings[place]) }
        #expect(clients[0].text.isEmpty && clients[3].text.isEmpty)
        try await stand.proxy.set(.clear)
        for place in [0, 3] { try await clients[place].heard(openings[place]) }
    }

    @Test("one connection is stalled when its client sends a marker")
    func onSight() async throws {
        let stand = try await Stand()
        let (client, another) = (try await stand.client(), try await stand.client())
        let (sprung, trap) = AsyncStream.makeStream(of: Void.self)
        try await stand.proxy.stall(onSightOf: "SECRET") { trap.finish() }
        try await client.send("no ")
        try await client.heard("no ")
        try await client.send("SECRET")
        for await _ in sprung {}
        try await another.send("SECRET")
        try await another.heard("SECRET")
        #expect(client.text == "no ")
        try await stand.proxy.set(.clear)
        try await client.heard("no SECRET")
    }
}
