// All ways in which a connection can end, over real sockets: the shard is notified of each exactly once, and the peer
// gets the right close code.

import Foundation
import NIOCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer

@Suite("How connections end", .timeLimit(.minutes(1)))
struct EdgeEndingTests {
    private func ends(_ edge: TestEdge, as ending: String) async throws {
        try await eventually("the shard is notified of the end") { try await edge.journal.webSockets() == 0 }
        #expect(edge.journal.all.filter { $0 != "connected" && !$0.hasPrefix("said") } == [ending])
    }

    @Test("every close code that a worker sends has a value of the metric's label, and no other code has")
    func labels() throws {
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/RollcallProtocol/Messages/CloseCode.swift")
        let codes = try String(contentsOf: source, encoding: .utf8).matches(of: /CloseCode\(rawValue: (\d+)\)/)
            .compactMap { UInt16($0.1) }
        #expect(codes.count > 15)
        for code in codes { #expect(Closing(.here(CloseCode(rawValue: code))).code == "\(code)") }
        for code: UInt16 in [0, 999, 4004, 4099, 4108, .max] {
            #expect(Closing(.peer(CloseCode(rawValue: code))).code == "other")
        }
    }

    @Test("the peer's close frame is answered with the same code", arguments: [nil, 1000, 1001, 4321] as [UInt16?])
    func peerCloses(code: UInt16?) async throws {
        try await TestEdge.with { edge in
            let client = try await edge.client()
            try await client.send(.close(code, code == nil ? "" : "done"))
            let answer = try await client.readFrame()
            #expect(answer.first == 0x88 && answer.closeCode == code.map(Int.init))
            #expect(try await client.readToEnd() == [])
            try await ends(edge, as: "peer \(code.map { "\($0)" } ?? "-")")
        }
    }

    @Test("a protocol violation gets its code, even if more of the same follows")
    func violations() async throws {
        let cases: [(ClientFrame, Int)] = [
            (ClientFrame(opcode: 1, mask: nil), 1002), (ClientFrame(opcode: 1, reserved: 4), 1002),
            (ClientFrame(opcode: 5), 1002), (ClientFrame(opcode: 9, isFinal: false), 1002),
            (.continuation("x"), 1002), (ClientFrame(opcode: 8, payload: [1]), 1002), (.close(1006), 1002),
            (ClientFrame(opcode: 2, payload: [1]), 1003), (ClientFrame(opcode: 1, payload: [0xFF]), 1007),
            (.text(String(repeating: "a", count: 1001)), 1009),
        ]
        for (frame, code) in cases {
            try await TestEdge.with {
                $0.messageBytes = 1000
            } body: { edge in
                let client = try await edge.client()
                // If these bytes were not read, the kernel would reset the connection, and the code might be lost.
                try await client.send(frame.bytes + Array(repeating: 0x61, count: 5000))
                #expect(try await client.readFrame().closeCode == code)
                #expect(try await client.readToEnd() == [])
                client.close()
                try await ends(edge, as: "here \(code)")
            }
        }
    }

    @Test("if the shard closes, earlier messages are sent first, and nothing more is received")
    func shardCloses() async throws {
        try await TestEdge.with { _ in
        } answer: { _, connection in
            connection.send(ServerFrame(text: Array("bye".utf8)))
            connection.close(.badToken, reason: "No such key.")
            connection.close(.normal)
            connection.send(ServerFrame(text: Array("dropped".utf8)))
        } body: { edge in
            let client = try await edge.client()
            try await client.send(.text("said one"), .text("said two"), .ping())
            #expect(try await client.readFrame() == .text("bye"))
            let close = try await client.readFrame()
            #expect(
                close.closeCode == 4100 && String(decoding: close.payload.dropFirst(2), as: UTF8.self) == "No such key."
            )
            #expect(try await client.readToEnd() == [])
            try await eventually("the shard is notified before the peer answers") { edge.journal.contains("here 4100") }
            #expect(edge.server.connections == 0, "its seat is free")
            try await client.send(.text("said three"), .close(4100))
            try await ends(edge, as: "here 4100")
            #expect(!edge.journal.contains("said two") && !edge.journal.contains("said three"))
        }
    }

    @Test("the wait for the answer to a close frame is limited")
    func noAnswer() async throws {
        try await TestEdge.with {
            $0.closing = .milliseconds(300)
        } answer: { _, connection in
            connection.close(.late)
        } body: { edge in
            let client = try await edge.client()
            try await client.send(.text("said"))
            #expect(try await client.readFrame().closeCode == 4003)
            try await ends(edge, as: "here 4003")
        }
    }

    @Test("an end of the stream, a reset, and an end within a frame or a message count as a lost connection")
    func lost() async throws {
        let ways: [@Sendable (RawClient) async throws -> Void] = [
            { $0.close() }, { $0.endSending() }, { $0.reset() },
            {
                try await $0.send(Array(ClientFrame.text("half").bytes.dropLast(2)))
                $0.close()
            },
            {
                try await $0.send(.text("half", isFinal: false))
                $0.endSending()
            },
            {
                try await $0.send(Array(ClientFrame.text("half").bytes.prefix(1)))
                $0.reset()
            },
        ]
        for way in ways {
            try await TestEdge.with { edge in
                let client = try await edge.client()
                try await way(client)
                try await ends(edge, as: "lost")
            }
        }
    }

    @Test("an end right after the last messages loses neither them nor the close")
    func lastWords() async throws {
        try await TestEdge.with { edge in
            let client = try await edge.client()
            try await client.send(.text("said it"), .close(1001))
            client.endSending()
            try await ends(edge, as: "peer 1001")
            #expect(edge.journal.contains("said it"))
        }
    }

    @Test("a stream that ends during the handshake is not reported as a connection")
    func duringHandshake() async throws {
        try await TestEdge.with { edge in
            for request in ["", "GET /v1/con", TestEdge.request().dropLast(2).description] {
                let client = try RawClient(port: edge.port)
                try await client.send(request)
                client.reset()
            }
            let witness = try await edge.client()
            try await witness.send(.text("here"))
            #expect(try await witness.readFrame() == .text("echo here"))
            #expect(edge.journal.all == ["connected", "here"])
        }
    }

    @Test("random bytes only end their connections")
    func noise() async throws {
        let seed = printedSeed()
        var numbers = SeededGenerator(seed: seed)
        try await TestEdge.with {
            $0.closing = .milliseconds(200)
        } body: { edge in
            for _ in 0..<60 {
                let client = Bool.random(using: &numbers) ? try await edge.client() : try RawClient(port: edge.port)
                let bytes = (0..<Int.random(in: 1...600, using: &numbers)).map { _ in
                    UInt8.random(in: 0...255, using: &numbers)
                }
                try? await client.send(bytes)
                if Bool.random(using: &numbers) { client.reset() } else { client.close() }
            }
            try await eventually("all are disconnected") { try await edge.journal.webSockets() == 0 }
            let ended = edge.journal.all.count { $0 == "lost" || $0.hasPrefix("here") || $0.hasPrefix("peer") }
            #expect(ended == edge.journal.count("connected"), "seed \(seed)")
            let witness = try await edge.client()
            try await witness.send(.text("here"))
            #expect(try await witness.readFrame() == .text("echo here"), "seed \(seed)")
        }
    }
}
