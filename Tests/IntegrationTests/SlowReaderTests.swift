// A device stops reading while everything changes: a real worker sends it the newest state when it reads again, or
// closes the connection. The device next to it is unaffected.

import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite("A device that stops reading")
struct SlowReaderTests {
    @Test("gets the newest state in few messages when it reads again; other devices get all updates")
    func readsAgain() async throws {
        let deployment = try await Deployment(workers: 1, on: .server)
        let (slow, fast) = try await pair(on: deployment.workers[0])
        var (late, prompt) = (Sight(of: slow), Sight(of: fast))
        let storm = try Storm(deployment.redis.servers[0], rounds: 20)
        try await eventually("the changes are over") {
            try await prompt.look()
            return !storm.process.isRunning
        }
        try await storm.end()
        try await prompt.seesTheEnd()
        try await late.seesTheEnd()
        #expect(late.messages < 700, "of more than \(20 * 200) changes")
        #expect(try await slow.ask(.state(.idle)) == nil)
        #expect(slow.close == nil)
    }

    @Test("is closed with a reason if it does not read for too long; other devices are not")
    func neverReads() async throws {
        let deployment = try await Deployment(
            workers: 1, settings: ["limits.outbound_bytes": "65536", "limits.slow_for": "1s"], on: .server)
        let (slow, fast) = try await pair(on: deployment.workers[0])
        let began = ContinuousClock.now
        let storm = try Storm(deployment.redis.servers[0], rounds: 1000)
        try await eventually("the slow one is disconnected") {
            try await fast.look()
            return try await !deployment.redis.cli("HGET", "presence:{slow}", "device:phone").hasSuffix(" 0")
        }
        #expect(ContinuousClock.now - began > .seconds(1))
        storm.process.kill()
        #expect(try await slow.closed() == .tooSlow)
        #expect(slow.messages.last == .goodbye(.init(reason: .slow, reconnect: true)))
        #expect(try await fast.ask(.state(.idle)) == nil)
    }

    /// Both watch everything that changes. The first has small buffers, so that its worker soon notices that it does
    /// not read.
    private func pair(on worker: WorkerProcess) async throws -> (slow: WireDevice, fast: WireDevice) {
        let slow = try await WireDevice(port: worker.port, receiveBuffer: 4096)
        try await slow.hello(token: "slow", device: "phone")
        let fast = try await worker.device("fast", "phone")
        for device in [slow, fast] {
            try await device.ask(.watch(Storm.users))
            try await device.ask(.join(Storm.conversation, presence: false))
        }
        return (slow, fast)
    }

    /// What a device has seen since observation began.
    private struct Sight {
        private let device: WireDevice
        private(set) var statuses: [UserID: PresenceStatus] = [:]
        private(set) var typists = 0
        private(set) var messages = 0

        init(of device: WireDevice) {
            self.device = device
        }

        mutating func seesTheEnd() async throws {
            try await eventually("all are offline and type") {
                try await look()
                return typists == Storm.typists && Storm.users.allSatisfy { statuses[$0] == .offline }
            }
        }

        mutating func look() async throws {
            for message in try await device.look() {
                messages += 1
                switch message {
                case .presence(let users, _): for user in users { statuses[user.user] = user.status }
                case .typing(let typing): typists = typing.count
                case .welcome, .members, .here, .removed, .person, .pong, .ack, .error, .goodbye: break
                }
            }
        }
    }
}

/// 200 users who change their presence at the same time, several times a second, and a conversation in which more and
/// more users type.
private struct Storm {
    static let users = (0..<200).map { try! UserID("user-\($0)") }
    static let typists = 300
    static let conversation: ConversationID = "c"

    let process: ChildProcess
    private let redis: RedisServer

    /// Publishes what a worker would publish. No record is written, since none is read.
    private static let script = """
        local round = redis.call('INCR', 'round')
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        for user = 0, 199 do
          local status = ARGV[1] == 'end' and 'offline' or (user + round) % 2 == 0 and 'online' or 'away'
          redis.call('PUBLISH', 'presence:{user-' .. user .. '}', string.format(
            '{"user":"user-%d","status":"%s","last_seen":null,"updated_at":null,"version":%d}',
            user, status, 8000000000000 + round))
        end
        for typist = round % 10, 299, 10 do
          redis.call('PUBLISH', 'typing:{c}', string.format(
            '{"user":"typist-%d","typing":true,"expires_in":60000,"at":%d}', typist, now))
        end
        """

    init(_ redis: RedisServer, rounds: Int) throws {
        self.redis = redis
        process = try ChildProcess([
            "redis-cli", "-p", "\(redis.port)", "-r", "\(rounds)", "-i", "0.1", "EVAL", Self.script, "0", "go on",
        ])
    }

    /// A last round, in which all users go offline.
    func end() async throws {
        try await redis.cli("EVAL", Self.script, "0", "end")
    }
}
