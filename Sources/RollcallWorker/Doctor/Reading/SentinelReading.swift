// What each sentinel that the configuration names says of the primary.

import RollcallRedis

/// A sentinel, and what it says.
struct SentinelReading: Sendable {
    /// Where it is, as the configuration says.
    var place: String
    /// What it knows of the primary, by Redis's names; why it does not say.
    var facts: Result<[String: String], Unread>
    /// Why a failover could not be agreed upon, in its own words; `nil` if it could, or where it may not be asked.
    var noQuorum: String?

    /// Where it says that the primary is.
    var primary: String? {
        guard let host = facts.value?["ip"], let port = facts.value?["port"] else { return nil }
        return "\(host):\(port)"
    }
}

extension SentinelReading {
    /// Asks a sentinel.
    static func of(
        _ sentinel: RedisLocation.Address, name: String, from place: RedisPlace
    ) async -> SentinelReading {
        let way = SentinelWay(
            sentinel, isEncrypted: place.deployment.isEncrypted, credentials: place.credentials)
        do {
            // Of several, one that is away is not to be waited for long.
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
        // Who may ask for little is told where the primary is, and no more.
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
