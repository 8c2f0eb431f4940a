// What each configured sentinel reports about the primary.

import RollcallRedis

/// A sentinel and its report.
struct SentinelReading: Sendable {
    /// The sentinel's address in the configuration.
    var place: String
    /// Its facts about the primary, by Redis's names, or why there are none.
    var facts: Result<[String: String], Unread>
    /// Why a failover cannot be agreed on, as the sentinel puts it; `nil` if it can, or if the question is not
    /// permitted.
    var noQuorum: String?

    /// The address of the primary.
    var primary: String? {
        guard let host = facts.value?["ip"], let port = facts.value?["port"] else { return nil }
        return "\(host):\(port)"
    }
}

extension SentinelReading {
    /// Asks one sentinel.
    static func of(
        _ sentinel: RedisLocation.Address, name: String, from place: RedisPlace
    ) async -> SentinelReading {
        let way = SentinelWay(
            sentinel, isEncrypted: place.deployment.isEncrypted, credentials: place.credentials)
        do {
            // A short timeout, because other sentinels are left to ask.
            let visit = try await RedisVisit(
                to: way, on: place.eventLoop, within: min(place.timeout, .seconds(1)), logger: place.logger)
            let reading = await SentinelReading(at: "\(sentinel)", visit, name: name)
            await visit.close()
            return reading
        } catch {
            let reason = (error as? RedisError)?.sentence ?? "\(error)"
            return SentinelReading(place: "\(sentinel)", facts: .failure(.failed(reason)))
        }
    }

    private init(at place: String, _ visit: RedisVisit, name: String) async {
        self.place = place
        let all = await visit.ask("SENTINEL", "MASTER", name).reading(right: "sentinel|master", Self.pairs)
        // A user with few rights may still ask for the primary's address.
        if case .failure(.denied) = all {
            facts = await visit.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)
                .reading(right: "sentinel|get-master-addr-by-name", Self.address)
        } else {
            facts = all
        }
        guard case .failure(let error) = await visit.ask("SENTINEL", "CKQUORUM", name),
            let answer = error.underlying as? RedisServerError, answer.kind == "NOQUORUM"
        else { return }
        noQuorum = answer.message
    }

    private static func pairs(_ value: RedisValue) -> [String: String]? {
        guard let texts = value.array?.map({ $0.string ?? "" }) else { return nil }
        let pairs = stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }
        return Dictionary(pairs) { first, _ in first }
    }

    private static func address(_ value: RedisValue) -> [String: String]? {
        guard let parts = value.array?.compactMap(\.string), parts.count == 2 else { return nil }
        return ["ip": parts[0], "port": parts[1]]
    }
}
