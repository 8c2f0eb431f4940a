// A sample of the keys in Redis. Redis may have millions, so findings apply only to the keys in the sample.

import RollcallRedis

/// A sample of keys.
struct KeySample: Sendable {
    /// How many keys the database has.
    var total: Int
    /// How many keys the sample has.
    var seen = 0
    /// Keys with Rollcall's names, by kind.
    private(set) var counts: [KeyKind: Int] = [:]
    /// Some keys of each kind, whose types are checked.
    private(set) var examples: [(key: String, kind: KeyKind)] = []
    /// Keys with Rollcall's names but another type, which another program wrote. Fails if the Redis user may not read
    /// types.
    private(set) var foreign: Reading<[Foreign]> = .success([])

    struct Foreign: Hashable, Sendable {
        var key: String
        var type: String
    }

    /// How many keys have their type checked.
    private static let mostExamples = 1_000

    init(total: Int) {
        self.total = total
    }

    /// How many keys have Rollcall's names.
    var ours: Int { counts.values.reduce(0, +) }

    mutating func saw(_ keys: [String?], _ names: KeyNames) {
        seen += keys.count
        for key in keys.compactMap({ $0 }) {
            guard let kind = names.kind(of: key) else { continue }
            counts[kind, default: 0] += 1
            if examples.count < Self.mostExamples { examples.append((key, kind)) }
        }
    }

    /// - Parameter types: The types of ``examples``, in the same order; `none` for a key that was deleted since.
    mutating func learnt(_ types: [Reading<String>]) {
        var found: [Foreign] = []
        for (example, type) in zip(examples, types) {
            switch type {
            case .success("none"), .success(example.kind.type): break
            case .success(let type): found.append(Foreign(key: example.key, type: type))
            case .failure(let unread): return foreign = .failure(unread)
            }
        }
        foreign = .success(found)
    }
}
