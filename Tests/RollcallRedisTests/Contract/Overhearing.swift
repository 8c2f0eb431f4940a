// What is published, as a worker receives it: on the channels of some topics, in Redis's order.

import NIOCore
import NIOPosix
import RedisTwin
import RollcallModel
import RollcallRedis
import TestSupport

/// Receives everything that is published about the users and conversations of the contract tests.
final class Overhearing: Sendable {
    /// A separate channel of the listener: a message on it follows everything published before.
    static let mark = "mark"
    /// Everything that tests publish must be about one of these.
    static let topics: [Topic] =
        [.typing(lounge), .members(lounge), .typing(kitchen), .members(kitchen), .presence(alice), .presence(bob)]
        + [w1, w2, w3].map { .worker($0) }

    private let subscriber: Subscriber
    private let messages: AsyncStream<(topic: Topic, payload: String)>
    private static let marks = Topic.worker(Incarnation(name: mark))

    init(_ redis: RedisServer) async throws {
        let (messages, continuation) = AsyncStream.makeStream(of: (topic: Topic, payload: String).self)
        self.messages = messages
        subscriber = try await Subscriber(of: redis)
        try await subscriber.use { connection in
            connection.onMessage = { continuation.yield(($0, String(buffer: $1))) }
        }
        let channels = [(Self.mark, Self.marks)] + Self.topics.map { (KeyNames().channel(of: $0), $0) }
        try await subscriber.use { connection in
            for (channel, topic) in channels { connection.subscribe(channel, as: topic) }
        }
        try await subscriber.confirmed(channels.map(\.0))
    }

    /// Returns what arrived since the last call, up to the message `mark` on the channel of marks.
    func heard(before mark: String) async throws -> [Published] {
        var heard: [Published] = []
        for await (topic, payload) in messages {
            if topic != Self.marks {
                heard.append(try Published(payload, about: topic))
            } else if payload == mark {
                return heard
            }
        }
        return heard
    }
}

extension Published {
    private struct Unreadable: Error {
        var topic: Topic
        var payload: String
    }

    /// The part of a presence payload that ``Presence`` does not have.
    private struct Surroundings: JSONReadable {
        var devices: Int
        var at: Timestamp

        init(json: JSONValue) throws(UnexpectedJSON) {
            (devices, at) = (try json.field("devices"), try json.field("at"))
        }
    }

    fileprivate init(_ payload: String, about topic: Topic) throws {
        switch topic {
        case .typing(let conversation): self = .typing(try decoded(TypingChange.self, payload), in: conversation)
        case .members(let conversation): self = .members(try decoded(MemberChange.self, payload), of: conversation)
        case .presence(let user):
            let change = try decoded(PresenceChange.self, payload)
            let around = try decoded(Surroundings.self, payload)
            guard change.presence.user == user, around.at == change.presence.updatedAt else {
                throw Unreadable(topic: topic, payload: payload)
            }
            self = .presence(change, devices: around.devices)
        case .worker(let incarnation):
            guard let notice = WorkerNotice(payload: payload.utf8) else {
                throw Unreadable(topic: topic, payload: payload)
            }
            self = .notice(notice, to: incarnation)
        }
    }
}
