// Makes the same calls to both parties and reports every difference.
//
// Redis usually returns the time at which it executed a call; the twin then does the same with that time. It does not
// return the exact expiry times of keys, so nothing is compared that takes long, or that happens within a few
// milliseconds of an expiry.

import RedisTwin
import RollcallModel

/// A difference between the two.
struct Difference: Error, CustomStringConvertible {
    var description: String
}

final class SideBySide {
    /// By how much expiry times may differ, in milliseconds.
    private static let slack: Int64 = 8

    private let redis: RealRedis
    private let twin: TwinUnderTest
    private var recent: [String] = []
    /// The number of calls and of dumps of all keys that were compared.
    private(set) var judged = 0

    init(_ settings: TwinRedis.Settings) async throws {
        redis = try await RealRedis(settings: settings)
        twin = TwinUnderTest(settings: settings)
    }

    func time() async throws -> Timestamp { try await redis.time() }

    func wait(_ pause: Duration) async throws {
        if pause > .zero { try await redis.wait(until: redis.time().advanced(by: pause)) }
    }

    func plant(_ record: PresenceRecord) async throws {
        try await redis.plant(record)
        await twin.plant(record)
    }

    /// Sets the clock of both.
    func setClock(by step: Duration) async throws {
        let expiries = await twin.expiries
        let deadlines = expiries + expiries.map { $0.advanced(by: .zero - step) }
        let before = try await clearMoment(deadlines)
        try await redis.setClock(by: step)
        let after = try await redis.time().advanced(by: .zero - step)
        await twin.set(time: after)
        await twin.setClock(by: step)
        // What expired meanwhile, by either clock, expired at one of the two before the clock was set, and at the other
        // after it.
        guard isClear(from: before, to: after, of: deadlines) else { return try await beginAgain() }
        note("the clock is set by \(step)")
    }

    private func note(_ event: String) {
        recent = recent.suffix(9) + [event]
    }

    /// Makes the call to both.
    ///
    /// - Returns: the answer; `nil` if an expiry was too close, and both were reset.
    func play(_ call: Call) async throws -> Answer? {
        let deadlines = await twin.expiries + (call.looksAtLeases ? twin.leaseEnds : [])
        let before = try await clearMoment(deadlines)
        let answer = try await redis.answer(call)
        let after = try await redis.time()
        let heard = try await redis.published()
        guard isClear(from: before, to: after, of: deadlines) else {
            try await beginAgain()
            return nil
        }
        var time = answer.time ?? heard.lazy.compactMap(\.time).first
        if time == nil { time = try await swept(call, from: before, to: after) }
        await twin.set(time: time ?? after)
        note("\(call)")
        try expect(answer.comparable, await twin.answer(call).comparable, "answers")
        try expect(heard, await twin.published(), "publishes")
        judged += 1
        return answer
    }

    /// When a sweep took its device offline: of a device in the background, neither answer nor message says so.
    private func swept(_ call: Call, from: Timestamp, to: Timestamp) async throws -> Timestamp? {
        let name: SessionName
        switch call {
        case .sweep(let session, _, _, _): name = session
        case .sweepBatch(let sessions, _, _): name = sessions[0]
        default: return nil
        }
        let records = try await redis.presence(of: [name.user], known: KnownWorkers()).records
        return records.first?.devices[name.device].map(\.since).flatMap { (from...to).contains($0) ? $0 : nil }
    }

    /// Compares everything stored.
    func compareKeys() async throws {
        let expiries = await twin.expiries
        let before = try await clearMoment(expiries)
        let keys = try await redis.keys()
        let after = try await redis.time()
        guard isClear(from: before, to: after, of: expiries) else { return try await beginAgain() }
        await twin.set(time: after)
        let expected = await twin.keys()
        for key in Set(keys.keys).union(expected.keys).sorted() {
            let (stored, twins) = (keys[key], expected[key])
            try expect(stored?.kind, twins?.kind, "has at \(key)")
            try expect(stored?.content, twins?.content, "has at \(key)")
            guard isClose(stored?.expires, twins?.expires) else {
                throw difference(stored?.expires, twins?.expires, "lets expire \(key) at")
            }
        }
        judged += 1
    }

    /// Waits until no deadline is near.
    private func clearMoment(_ deadlines: [Timestamp]) async throws -> Timestamp {
        while true {
            let now = try await redis.time()
            guard let near = deadlines.first(where: { abs($0.milliseconds - now.milliseconds) <= Self.slack + 4 })
            else {
                return now
            }
            try await redis.wait(until: near.advanced(by: .milliseconds(Self.slack + 5)))
        }
    }

    private func isClear(from before: Timestamp, to after: Timestamp, of deadlines: [Timestamp]) -> Bool {
        let moment = before.milliseconds - Self.slack...after.milliseconds + Self.slack
        return moment.count < 3 * Self.slack && !deadlines.contains { moment.contains($0.milliseconds) }
    }

    private func beginAgain() async throws {
        try await redis.flush()
        await twin.flush()
    }

    private func isClose(_ left: Timestamp?, _ right: Timestamp?) -> Bool {
        guard let left, let right else { return left == right }
        return abs(left.milliseconds - right.milliseconds) <= Self.slack
    }

    private func expect<Value: Equatable>(_ real: Value, _ twins: Value, _ what: String) throws {
        if real != twins { throw difference(real, twins, what) }
    }

    private func difference(_ real: some Any, _ twins: some Any, _ what: String) -> Difference {
        let calls = recent.map { "  \($0)" }.joined(separator: "\n")
        return Difference(description: "Redis \(what): \(real)\nthe twin: \(twins)\nafter\n\(calls)")
    }
}

extension Published {
    /// The script's `TIME`, if the message contains it.
    fileprivate var time: Timestamp? {
        switch self {
        case .typing(let change, _): change.at
        case .presence(let change, _): change.presence.updatedAt
        case .members, .notice: nil
        }
    }
}
