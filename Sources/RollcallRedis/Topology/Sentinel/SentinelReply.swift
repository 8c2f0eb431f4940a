// What sentinels and servers answer, as values. Whatever else they may say is taken for no answer.

import RollcallModel

/// What is read of sentinels' answers.
enum SentinelReply {
    typealias Address = RedisLocation.Address

    /// `SENTINEL GET-MASTER-ADDR-BY-NAME`: a host and a port.
    static func address(_ value: RedisValue) -> Address? {
        guard let parts = value.array, parts.count == 2 else { return nil }
        return address(host: parts[0].string, port: parts[1].string)
    }

    /// `SENTINEL MASTER`: what it knows of the primary, names and values in turn.
    static func facts(_ value: RedisValue) -> [String: String] {
        let texts = (value.array ?? []).map { $0.string ?? "" }
        let pairs = stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Who the primary is, and what else is known of it. The address among the facts is that of the old one until a failover
    /// is over, so it is not looked at.
    static func word(_ primary: Address, _ facts: [String: String]) -> SentinelWord {
        SentinelWord(
            primary: primary, epoch: number("config-epoch", in: facts), others: number("num-other-sentinels", in: facts)
        )
    }

    /// `SENTINEL SENTINELS`: the same of each of the others. Of those that are away it may be the last that anybody heard.
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
