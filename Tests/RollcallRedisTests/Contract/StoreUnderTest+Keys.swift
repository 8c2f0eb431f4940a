import RollcallModel
import RollcallRedis

extension StoreUnderTest {
    /// Reads all keys in one step: name, type, expiry and content. Time passes while a script runs, so the expiry is
    /// approximate.
    private static let dumpScript = """
        local read = {
          string = function(key) return { redis.call('GET', key) } end,
          hash = function(key) return redis.call('HGETALL', key) end,
          set = function(key) return redis.call('SMEMBERS', key) end,
          zset = function(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end,
        }
        local dump = {}
        for _, key in ipairs(redis.call('KEYS', '*')) do
          local kind = redis.call('TYPE', key).ok
          dump[#dump + 1] = { key, kind, redis.call('PEXPIRETIME', key), read[kind](key) }
        end
        return dump
        """

    /// Returns everything stored. Of a worker's hash only the last heartbeat is kept, since the rest is for people, and
    /// of a claim to sweep only the worker.
    func keys() async throws -> [String: StoredKey] {
        var keys = try await dump()
        for (key, stored) in keys { keys[key]?.content = Self.content(of: key, stored.kind, stored.content) }
        return keys
    }

    /// The same with every value, as Redis returns them.
    func dump() async throws -> [String: StoredKey] {
        let dump = try await command("EVAL", Self.dumpScript, "0").array ?? []
        return dump.compactMap(\.array).reduce(into: [:]) { keys, entry in
            guard let key = entry[0].string, let kind = entry[1].string.flatMap(StoredKey.Kind.init) else { return }
            keys[key] = StoredKey(
                kind: kind, content: entry[3].array?.compactMap(\.string) ?? [],
                expires: entry[2].integer.flatMap { $0 < 0 ? nil : Timestamp(milliseconds: $0) })
        }
    }

    private static func content(of key: String, _ kind: StoredKey.Kind, _ values: [String]) -> [String] {
        switch kind {
        // Redis does not return the exact time of a claim.
        case .string where key.hasSuffix(":sweeper"): values.map { String($0.prefix { $0 != " " }) }
        case .string, .set: values.sorted()
        case .hash, .zset:
            stride(from: 0, to: values.count, by: 2)
                .filter { !key.hasPrefix("\(KeyNames().workers):") || values[$0] == "beat" }
                .map { "\(values[$0])=\(values[$0 + 1])" }.sorted()
        }
    }
}
