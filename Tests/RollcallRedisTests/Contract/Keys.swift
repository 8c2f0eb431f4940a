// Everything that is stored, as a real Redis and its twin hold it.

import RollcallProtocol
import RollcallRedis

@testable import RedisTwin

extension StoreUnderTest {
    /// Reads all keys in one step: name, type, expiry and content. Time passes while a script runs, so the expiry is
    /// approximate.
    private static let dumpScript = """
        local read = {
          string = function(key) return { redis.call('GET', key) } end,
          hash = function(key) return redis.call('HGETALL', key) end,
          set = function(key) return redis.call('SMEMBERS', key) end,
          zset = function(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end,
          stream = function(key)
            local entries = redis.call('XRANGE', key, '-', '+')
            for i, entry in ipairs(entries) do entries[i] = table.concat(entry[2], ' ') end
            return entries
          end,
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
            guard let key = entry[0].text?.string, let kind = entry[1].text.flatMap(StoredKey.Kind.init(word:)) else {
                return
            }
            keys[key] = StoredKey(
                kind: kind, content: entry[3].array?.compactMap(\.text?.string) ?? [],
                expires: entry[2].integer.flatMap { $0 < 0 ? nil : Timestamp(milliseconds: $0) })
        }
    }

    private static func content(of key: String, _ kind: StoredKey.Kind, _ values: [String]) -> [String] {
        switch kind {
        // Redis does not return the exact time of a claim.
        case .string where key.hasSuffix(":sweeper"): values.map { String($0.prefix { $0 != " " }) }
        case .string, .set: values.sorted()
        case .stream: values
        case .hash, .zset:
            stride(from: 0, to: values.count, by: 2)
                .filter { !key.hasPrefix("\(KeyNames().workers):") || values[$0] == "beat" }
                .filter { key != KeyNames().eventsState || values[$0] != "run" }
                .map { "\(values[$0])=\(values[$0 + 1])" }.sorted()
        }
    }
}

extension TwinRedis {
    /// Returns what a real Redis would hold.
    func keys(_ names: KeyNames) -> [String: StoredKey] {
        var keys: [String: StoredKey] = [:]
        for (user, record) in presences {
            let says = named[user].map { ["named=\($0.milliseconds)"] } ?? []
            let reset = knownReset[user].map { ["reset=\($0)"] } ?? []
            keys[names.presence(user)] = stored(.hash, record) { $0.fields + reset + says }
        }
        for (user, person) in persons {
            keys[names.person(user)] = stored(.hash, person.stored.map { "\($0.field)=\($0.value)" })
        }
        for (user, revoked) in revocations {
            keys[names.revoked(user)] = stored(.string, revoked) { ["\($0.milliseconds)"] }
        }
        for (place, typing) in typingUsers {
            keys[names.typing(place.conversation, place.user)] = stored(.string, typing) { [$0.text] }
        }
        for (conversation, set) in typingSets {
            keys[names.typing(conversation)] = stored(.zset, set) { set in
                set.map { "\($0.user) \($0.device)=\($1.milliseconds)" }
            }
        }
        for (conversation, members) in memberNames {
            keys[names.members(conversation)] = stored(.hash, members.map { "\($0)=\($1)" } + ["{managed}=1"])
        }
        for (conversation, access) in access {
            keys[names.access(conversation)] = stored(.zset, access) { access in
                access.admitted.map { "\($0)=\($1.milliseconds)" }
                    + access.marks.map { " \($0?.text ?? "")=\($1.milliseconds)" }
            }
        }
        for (conversation, people) in accessPeople {
            keys[names.accessPeople(conversation)] = stored(.string, people) { [$0.map(\.text).joined(separator: " ")] }
        }
        for (conversation, users) in here {
            keys[names.here(conversation)] = stored(
                .hash, users.map { "\($0)=" + $1.lines.map(\.text).joined(separator: "\n") })
            keys[names.hereSince(conversation)] = stored(.zset, users.map { "\($0)=\($1.since.milliseconds)" })
        }
        if !events.isEmpty {
            keys[names.events] = StoredKey(kind: .stream, content: events.map(\.text), expires: nil)
        }
        if let eventsState { keys[names.eventsState] = stored(.hash, ["reset=\(eventsState.reset)"]) }
        return keys.merging(workerKeys(names)) { key, _ in key }
    }

    private func workerKeys(_ names: KeyNames) -> [String: StoredKey] {
        var keys: [String: StoredKey] = [:]
        if !leases.isEmpty { keys[names.workers] = stored(.zset, leases.map { "\($0)=\($1.milliseconds)" }) }
        for (incarnation, beat) in beats {
            keys[names.worker(incarnation)] = stored(.hash, ["beat=\(beat.milliseconds)"])
        }
        for (incarnation, sessions) in sessions {
            keys[names.sessions(incarnation)] = stored(.set, sessions.map { "\($0.user) \($0.device) \($0.session)" })
        }
        for (incarnation, entries) in entries {
            keys[names.entries(incarnation)] = stored(.set, entries.map(\.memberText))
        }
        for (dead, claim) in sweepers {
            keys[names.sweeper(dead)] = stored(.string, claim) { [$0.holder.name.string] }
        }
        return keys
    }

    private func stored(_ kind: StoredKey.Kind, _ content: [String]) -> StoredKey {
        StoredKey(kind: kind, content: content.sorted(), expires: nil)
    }

    /// - Returns: `nil` if the key has expired.
    private func stored<Value>(
        _ kind: StoredKey.Kind, _ key: Expiring<Value>, _ content: (Value) -> [String]
    ) -> StoredKey? {
        key.read(at: time).map { StoredKey(kind: kind, content: content($0).sorted(), expires: key.expires) }
    }
}

extension PresenceRecord {
    /// The fields of the hash, as scripts write it.
    fileprivate var fields: [String] {
        var fields = ["status=\(asWritten.status.rawValue)", "version=\(version)"]
        fields += devices.map { "device:\($0)=\($1)" }
        if let lastSeen { fields.append("last_seen=\(lastSeen.milliseconds)") }
        if let updatedAt { fields.append("updated_at=\(updatedAt.milliseconds)") }
        if person > 0 { fields.append("person=\(person)") }
        for field in Profile.fields {
            if let text = profile[keyPath: field.text] { fields.append("\(field.name)=\(text)") }
        }
        return fields
    }

    /// The fields and values of the hash, for `HSET`.
    var hash: [String] {
        fields.flatMap { $0.split(separator: "=", maxSplits: 1).map(String.init) }
    }
}

extension Event {
    /// The fields of the entry, as scripts write it.
    fileprivate var text: String {
        switch content {
        case .reset: "type reset at \(at.milliseconds)"
        case .person(let user, let person):
            "type person user \(user) revision \(person.revision) settings "
                + String(decoding: person.settings.jsonText, as: UTF8.self) + " at \(at.milliseconds)"
        case .status(let presence):
            "user \(presence.user) status \(presence.status.rawValue) version \(presence.version) at \(at.milliseconds)"
                + (presence.lastSeen.map { " last_seen \($0.milliseconds)" } ?? "")
        }
    }
}
