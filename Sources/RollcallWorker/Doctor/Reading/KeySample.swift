// Some of the keys in a Redis. A Redis can have millions, so what is said of them is said of those that were looked at.

import RollcallRedis

/// Keys that were looked at.
struct KeySample: Sendable {
    /// How many keys the database has.
    var total: Int
    /// How many were looked at.
    var seen = 0
    /// Those with Rollcall's names, by their kind.
    private(set) var counts: [KeyKind: Int] = [:]
    /// Some of each kind, whose type is to be asked for.
    private(set) var examples: [(key: String, kind: KeyKind)] = []
    /// Keys with Rollcall's names that are of another type: somebody else's. Of none it was seen where the user of Redis
    /// may not ask for types.
    private(set) var foreign: Reading<[Foreign]> = .success([])

    struct Foreign: Hashable, Sendable {
        var key: String
        var type: String
    }

    /// Of how many keys the type is asked for.
    private static let mostExamples = 1_000

    init(total: Int) {
        self.total = total
    }

    /// How many have Rollcall's names.
    var ours: Int { counts.values.reduce(0, +) }

    mutating func saw(_ keys: [String?], _ names: KeyNames) {
        seen += keys.count
        for key in keys.compactMap({ $0 }) {
            guard let kind = names.kind(of: key) else { continue }
            counts[kind, default: 0] += 1
            if examples.count < Self.mostExamples { examples.append((key, kind)) }
        }
    }

    /// - Parameter types: of the ``examples``, in their order; `none` is a key that went meanwhile.
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
