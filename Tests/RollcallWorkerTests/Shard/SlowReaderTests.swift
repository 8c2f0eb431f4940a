// A client that does not read, among others that do, while everything changes: what waits for it at the worker, what it
// gets when it reads again, and that others are unaffected.

import Foundation
import NIOCore
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer

@Suite("A slow reader among many changes", .timeLimit(.minutes(2)))
struct SlowReaderTests {
    private static let users = (0..<200).map { try! UserID("user-\($0)") }
    private static let typists = (0..<300).map { try! UserID("typist-\($0)") }
    private static let conversation = try! ConversationID("c")
    /// The most that may wait for a reader that reads nothing: the high-water mark, and what one tick adds.
    private static let bound = 64 * 1024

    @Test("little waits for it, and it gets the newest state as soon as it reads")
    func storm() async throws {
        try await StormyWorker.with(WorkerConfiguration.Limits()) { worker in
            let (slow, fast) = (try await worker.client("slow", receiveBuffer: 4096), try await worker.client("fast"))
            for client in [slow, fast] { try await follow(client) }
            let before = try await worker.ask { $0.peaks[0] }
            #expect(before < Self.bound)

            var seen = Sight()
            for round in 1...40 {
                try await blow(round, at: worker)
                try await seen.look(at: fast)
            }
            try await eventually("the fast one sees the last change") {
                try await seen.look(at: fast)
                return seen.statuses == Self.truth(after: 40)
            }
            #expect(seen.bytes > 512 * 1024)
            #expect(try await worker.ask { $0.peaks[0] } < Self.bound)
            #expect(try await worker.ask { $0.driver.shard.tally.conflated } > 5000)

            var late = Sight()
            try await eventually("the slow one sees it too") {
                try await late.look(at: slow)
                return late.statuses == Self.truth(after: 40) && late.typing == seen.typing
            }
            #expect(late.bytes < 128 * 1024)
            #expect(try await worker.ask { $0.connections.count } == 2)
        }
    }

    @Test("a client that sends requests without reading answers is disconnected")
    func asking() async throws {
        var limits = WorkerConfiguration.Limits()
        limits.messageRate = 100_000
        limits.messageBurst = 100_000
        limits.outboundBytes = 65_536
        try await StormyWorker.with(limits) { worker in
            let client = try await worker.client("asker", receiveBuffer: 4096)
            let names = (0..<100).map { #""user-\#($0)""# }.joined(separator: ",")
            let request = ClientFrame.text(#"{"type":"get","id":1,"users":[\#(names)]}"#).bytes
            while try await worker.ask({ $0.connections[0].ending }) == nil {
                try? await client.send(request)
            }
            #expect(try await worker.ask { $0.connections[0].ending } == .here(.tooSlow))
            // The gets of a session are for 2,000 users at once, at most.
            #expect(try await worker.ask { $0.peaks[0] } < 4 * limits.outboundBytes + 2000 * 200)
        }
    }

    // MARK: The changes

    private func follow(_ client: RawClient) async throws {
        let names = Self.users.map { #""\#($0)""# }.joined(separator: ",")
        try await client.send(.text(#"{"type":"watch","id":1,"users":[\#(names)]}"#))
        try await client.send(.text(#"{"type":"join","id":2,"conversation":"c"}"#))
        var acks = 0
        while acks < 2 {
            if String(decoding: try await client.readFrame().payload, as: UTF8.self).contains(#""ack""#) { acks += 1 }
        }
    }

    /// Changes the presence of all users and the typing of some, 20 ms later.
    private func blow(_ round: Int, at worker: StormyWorker) async throws {
        try await worker.ask(after: .milliseconds(20)) { shard in
            shard.after { decisions, now in
                for presence in Self.presences(in: round) {
                    decisions.presenceChanged(PresenceChange(presence), at: now)
                }
                let time = Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
                for (index, user) in Self.typists.enumerated() where index % 30 == round % 30 {
                    let change = TypingChange(user: user, typing: true, expiresIn: 60_000, at: time)
                    decisions.typingChanged(change, in: Self.conversation, at: now)
                }
            }
        }
    }

    private static func presences(in round: Int) -> [Presence] {
        users.enumerated().map { index, user in
            let status: PresenceStatus = (round + index).isMultiple(of: 2) ? .online : .away
            return Presence(
                user: user, status: status, lastSeen: nil, updatedAt: nil, version: 8_000_000_000_000 + Int64(round))
        }
    }

    private static func truth(after round: Int) -> [UserID: PresenceStatus] {
        Dictionary(uniqueKeysWithValues: presences(in: round).map { ($0.user, $0.status) })
    }

    /// What a client has seen.
    private struct Sight {
        var statuses: [UserID: PresenceStatus] = [:]
        var typing: ServerMessage.Typing?
        var bytes = 0
        private let codec = MessageCodec()

        mutating func look(at client: RawClient) async throws {
            for frame in client.frames() {
                bytes += frame.payload.count
                switch try codec.message(from: Data(frame.payload)) {
                case .presence(let presences, _):
                    for presence in presences { statuses[presence.user] = presence.status }
                case .typing(let typing): self.typing = typing
                default: break
                }
            }
        }
    }
}
