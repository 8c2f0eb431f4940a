// Decodes replies of sentinels and servers. Unexpected replies count as no reply.

import RollcallModel

/// Decoders for the replies of sentinels.
enum SentinelReply {
    typealias Address = RedisLocation.Address

    /// `SENTINEL GET-MASTER-ADDR-BY-NAME`: a host and a port.
    static func address(_ value: RedisValue) -> Address? {
        guard let parts = value.array, parts.count == 2 else { return nil }
        return address(host: parts[0].string, port: parts[1].string)
    }

    /// `SENTINEL MASTER`: properties of the primary, as alternating names and values.
    static func facts(_ value: RedisValue) -> [String: String] {
        let texts = (value.array ?? []).map { $0.string ?? "" }
        let pairs = stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Combines the primary's address with its properties. The address among the properties is not used, because it is
    /// that of the old primary until a failover is complete.
    static func word(_ primary: Address, _ facts: [String: String]) -> SentinelWord {
        SentinelWord(
            primary: primary, epoch: number("config-epoch", in: facts), others: number("num-other-sentinels", in: facts)
        )
    }

    /// `SENTINEL SENTINELS`: the properties of each other sentinel. For a sentinel that is down, they may be outdated,
    /// so it is left out.
    static func others(_ value: RedisValue) -> [SentinelPeer] {
        (value.array ?? []).compactMap { entry in
            let facts = facts(entry)
            let flags = facts["flags"]?.parts(at: ",") ?? []
            guard !flags.contains("s_down"), !flags.contains("disconnected") else { return nil }
            guard let address = address(host: facts["ip"], port: facts["port"]) else { return nil }
            return SentinelPeer(id: facts["runid"] ?? "", address: address)
        }
    }

    /// `ROLE`: whether the server is a primary.
    static func isPrimary(_ value: RedisValue) -> Bool {
        value.array?.first?.string == "master"
    }

    private static func number(_ name: String, in facts: [String: String]) -> Int {
        facts[name].flatMap { Int($0) } ?? 0
    }

    private static func address(host: String?, port: String?) -> Address? {
        guard let host, !host.isEmpty, let port = port.flatMap({ Int($0) }), (1...65_535).contains(port) else {
            return nil
        }
        return .host(host, port: port)
    }
}
