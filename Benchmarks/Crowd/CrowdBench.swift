// `crowd-bench`: measures what a conversation with very many users costs its worker, per user. That should not depend
// on the number of users: the last column is the cost per user in the largest crowd, relative to the smallest.

import Foundation
import RollcallCore
import RollcallModel

@main
struct CrowdBench {
    private static let crowds = [1_000, 4_000, 16_000]

    static func main() {
        let columns = crowds.map { "\($0) users" }.joined(separator: " | ")
        print(
            "| µs for each user | \(columns) | growth |\n|---|\(String(repeating: "---:|", count: crowds.count + 1))"
        )
        show("all join at once") { $0.joinAll() }
        show("all leave, one by one") { $0.leaveAll() }
        show("all are removed, one by one") { $0.removeAll() }
        show("all drop their connections") { $0.dropAll() }
    }

    /// - Parameter act: the measured operation. The crowd has joined before, except if joining is measured.
    private static func show(_ name: String, _ act: (inout Crowd) -> Void) {
        let times = crowds.map { count in
            let samples = (0..<3).map { _ in
                var crowd = Crowd(count, joined: name != "all join at once")
                return ContinuousClock().measure { act(&crowd) } / .microseconds(count)
            }
            return samples.sorted()[1]
        }
        let row = times.map { String(format: "%.1f", $0) }.joined(separator: " | ")
        print("| \(name) | \(row) | \(String(format: "%.1f", times.last! / times[0])) |")
    }
}

/// Users on one shard who are in one conversation. Redis answers at once.
private struct Crowd {
    private static let room = try! ConversationID("town")
    private static let phone = try! DeviceID("phone")
    private var shard = Shard(settings: ShardSettings(), worker: "w1", random: SystemRandomNumberGenerator())
    private var now = Instant(nanoseconds: 0)
    private var sessions: [SessionKey] = []

    init(_ count: Int, joined: Bool) {
        let time = Timestamp(milliseconds: 1_784_600_000_000)
        let incarnation = Incarnation(name: "w1.1")
        answer(
            shard.incarnationBegan(
                incarnation, isFirst: true, LeaseSnapshot(held: true, time: time, leases: [incarnation: time]),
                until: time.advanced(by: .seconds(4)), clock: RedisClock(time: time, sent: now), at: now))
        for number in 0..<count { sessions.append(enter(Self.user(number))) }
        if joined { joinAll() }
    }

    mutating func joinAll() {
        var asked: [ShardAction] = []
        for key in sessions { asked += say(.join(Self.room, presence: false), on: key) }
        answer(asked)
    }

    mutating func leaveAll() {
        for key in sessions { answer(say(.leave(Self.room), on: key)) }
    }

    mutating func removeAll() {
        for number in sessions.indices {
            answer(shard.memberChanged(.removed(Self.user(number), count: nil), in: Self.room, at: now))
        }
    }

    mutating func dropAll() {
        for key in sessions { answer(shard.disconnected(key, silence: .zero, at: now)) }
    }

    private mutating func enter(_ user: UserID) -> SessionKey {
        let key = shard.connected(at: now)
        _ = say(.hello(.init(token: "", device: Self.phone, state: .active)), on: key)
        _ = shard.authenticated(key, user: user, device: Self.phone, id: nil, at: now)
        return key
    }

    private mutating func say(_ message: ClientMessage, on key: SessionKey) -> [ShardAction] {
        shard.received(ClientRequest(message, id: nil), on: key, at: now)
    }

    private static func user(_ number: Int) -> UserID { try! UserID("user\(number)") }

    /// Answers as Redis would: subscriptions are confirmed, all users are members, and no user is typing.
    private mutating func answer(_ actions: [ShardAction]) {
        for action in actions {
            switch action {
            case .subscribe(let topic): answer(shard.subscribed(topic, at: now))
            case .store(.readRoom(let reading)):
                let room = RoomSnapshot(
                    time: Timestamp(milliseconds: 1_784_600_000_000), isMember: true, typists: [], members: nil)
                answer(reading.answered(.success(room), by: &shard, at: now))
            default: break
            }
        }
    }
}
