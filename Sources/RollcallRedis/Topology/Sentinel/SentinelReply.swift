// What sentinels and servers answer, as values. Whatever else they may say is taken for no answer.

/// What is read of sentinels' answers.
enum SentinelReply {
    typealias Address = RedisLocation.Address

    /// `SENTINEL GET-MASTER-ADDR-BY-NAME`: a host and a port.
    static func address(_ value: RedisValue) -> Address? {
        guard let parts = value.array, parts.count == 2 else { return nil }
        return address(host: parts[0].string, port: parts[1].string)
    }

    /// `SENTINEL SENTINELS`: of each of the others, names and values in turn. Of those that are away it may be the last
    /// that anybody heard.
    static func others(_ value: RedisValue) -> [Address] {
        (value.array ?? []).compactMap { entry in
            let texts = (entry.array ?? []).map { $0.string ?? "" }
            let pairs = stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }
            let facts = Dictionary(pairs) { first, _ in first }
            let flags = facts["flags"]?.split(separator: ",") ?? []
            guard !flags.contains("s_down"), !flags.contains("disconnected") else { return nil }
            return address(host: facts["ip"], port: facts["port"])
        }
    }

    /// A message on `+switch-master`: the name, where the primary was, and where it is.
    ///
    /// - Returns: where the primary of this name is now; `nil` if the message is about another.
    static func switched(_ message: String, of name: String) -> Address? {
        let words = message.split(separator: " ").map(String.init)
        guard words.count == 5, words[0] == name else { return nil }
        return address(host: words[3], port: words[4])
    }

    /// `ROLE`: whether the server is a primary.
    static func isPrimary(_ value: RedisValue) -> Bool {
        value.array?.first?.string == "master"
    }

    private static func address(host: String?, port: String?) -> Address? {
        guard let host, !host.isEmpty, let port = port.flatMap({ Int($0) }), (1...65_535).contains(port) else {
            return nil
        }
        return .host(host, port: port)
    }
}
