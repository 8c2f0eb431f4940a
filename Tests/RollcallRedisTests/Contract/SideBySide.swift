// Makes the same calls to a real Redis and to its twin, and reports every difference.
//
// Redis usually returns the time at which it executed a call; the twin then does the same with that time. It does not
// return the exact expiry times of keys, so nothing is compared that takes long, or that happens within a few
// milliseconds of an expiry.

import RedisTwin
import RollcallProtocol
import RollcallRedis

/// A difference between the two.
struct Difference: Error, CustomStringConvertible {
    var description: String
}

/// A call was too close to an expiry; both are empty now.
struct BegunAnew: Error {}

actor SideBySide: Contract {
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

    func call<Value: Hashable & Sendable>(
        _ text: String, _ store: @escaping @Sendable (Store, @escaping Store.Reply<Value>) -> Void,
        twin other: @Sendable (inout TwinRedis) -> Value
    ) async throws -> Value {
        let deadlines = await twin.deadlines
        let before = try await clearMoment(deadlines)
        let answer = try await redis.call(text, store, twin: other)
        let after = try await redis.time()
        let heard = try await redis.published()
        try await demandClear(from: before, to: after, of: deadlines)
        var time = (answer as? any Timed)?.time ?? heard.lazy.compactMap(\.time).first
        if time == nil { time = try await changed(from: before, to: after) }
        await twin.set(time: time ?? after)
        note(text)
        let twins = await twin.call(text, store, twin: other)
        try expect(comparable(answer), comparable(twins), "answers")
        try expect(heard, await twin.published(), "publishes")
        judged += 1
        return answer
    }

    /// When a device changed in this time: of one in the background, neither answer nor message may say so.
    private func changed(from: Timestamp, to: Timestamp) async throws -> Timestamp? {
        try await redis.presence(of: [alice, bob], known: KnownWorkers()).records.lazy
            .flatMap(\.devices.values).map(\.since).first { (from...to).contains($0) }
    }

    /// Compares everything stored.
    func keys() async throws -> [String: StoredKey] {
        let deadlines = await twin.deadlines
        let before = try await clearMoment(deadlines)
        let keys = try await redis.keys()
        let after = try await redis.time()
        try await demandClear(from: before, to: after, of: deadlines)
        await twin.set(time: after)
        let expected = await twin.keys()
        for key in Set(keys.keys).union(expected.keys).sorted() {
            let (stored, twins) = (keys[key], expected[key])
            try expect(stored?.kind, twins?.kind, "has at \(key)")
            try expect(stored?.content, twins?.content, "has at \(key)")
            let (left, right) = (stored?.expires?.milliseconds, twins?.expires?.milliseconds)
            guard (left == nil) == (right == nil), abs((left ?? 0) - (right ?? 0)) <= Self.slack else {
                throw difference(left, right, "lets expire \(key) at")
            }
        }
        judged += 1
        return keys
    }

    /// Nothing: what was published was compared with each call.
    func published() -> [Published] { [] }

    func time() async throws -> Timestamp { try await redis.time() }

    func wait(until moment: Timestamp) async throws { try await redis.wait(until: moment) }

    func plant(_ record: PresenceRecord) async throws {
        try await redis.plant(record)
        await twin.plant(record)
    }

    func flush() async throws {
        try await redis.flush()
        await twin.flush()
    }

    func setClock(by step: Duration) async throws {
        let ends = await twin.deadlines
        let deadlines = ends + ends.map { $0.advanced(by: .zero - step) }
        let before = try await clearMoment(deadlines)
        try await redis.setClock(by: step)
        let after = try await redis.time().advanced(by: .zero - step)
        await twin.set(time: after)
        await twin.setClock(by: step)
        // What expired meanwhile, by either clock, expired at one of the two before the clock was set, and at the other
        // after it.
        try await demandClear(from: before, to: after, of: deadlines)
        note("the clock is set by \(step)")
    }

    private func note(_ event: String) {
        recent = recent.suffix(9) + [event]
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

    private func demandClear(from before: Timestamp, to after: Timestamp, of deadlines: [Timestamp]) async throws {
        let moment = before.milliseconds - Self.slack...after.milliseconds + Self.slack
        guard moment.count < 3 * Self.slack, !deadlines.contains(where: { moment.contains($0.milliseconds) }) else {
            try await flush()
            throw BegunAnew()
        }
    }

    /// Without the times of a read in several steps, each of which is slightly later than the last.
    private func comparable<Value>(_ answer: Value) -> Value {
        guard var snapshot = answer as? PresenceSnapshot else { return answer }
        for index in snapshot.records.indices where !snapshot.records[index].isStored {
            snapshot.records[index].version = 0
        }
        for incarnation in snapshot.standings.keys {
            snapshot.standings[incarnation]?.time = Timestamp(milliseconds: 0)
        }
        return snapshot as? Value ?? answer
    }

    private func expect<Value: Equatable>(_ real: Value, _ twins: Value, _ what: String) throws {
        if real != twins { throw difference(real, twins, what) }
    }

    private func difference(_ real: some Any, _ twins: some Any, _ what: String) -> Difference {
        let calls = recent.map { "  \($0)" }.joined(separator: "\n")
        return Difference(description: "Redis \(what): \(real)\nthe twin: \(twins)\nafter\n\(calls)")
    }
}

/// Answers that contain the time at which Redis executed the call.
private protocol Timed {
    var time: Timestamp { get }
}

extension LeaseSnapshot: Timed {}
extension WorkerStanding: Timed {}
extension DeviceWritten: Timed {}
extension RoomSnapshot: Timed {}
extension HereWritten: Timed {}
extension AccessWritten: Timed {}
extension PersonWritten: Timed {}

extension Published {
    /// The script's `TIME`, if the message contains it.
    fileprivate var time: Timestamp? {
        switch self {
        case .typing(let change, _): change.at
        case .presence(let change, _): change.presence.updatedAt
        case .here(let change, _): change.at
        case .person(let change): change.at
        case .members, .notice: nil
        }
    }
}
