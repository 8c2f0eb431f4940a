// The reply to `INFO`: one fact per line, mostly the same for all servers that speak Redis's protocol.

/// The facts in `INFO`.
struct RedisInfo: Hashable, Sendable {
    private let facts: [String: String]

    init(_ text: String) {
        facts = Self.pairs(text.split(whereSeparator: \.isNewline), at: ":")
    }

    subscript(name: String) -> String? { facts[name] }

    func number(_ name: String) -> Int? { facts[name].flatMap { Int($0) } }

    /// The databases that are not empty, with their key counts.
    var databases: [Int: Int] {
        let pairs = facts.compactMap { name, value -> (Int, Int)? in
            guard name.hasPrefix("db"), let number = Int(name.dropFirst(2)) else { return nil }
            return Self.parts(of: value)["keys"].flatMap { Int($0) }.map { (number, $0) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// The addresses of its replicas, at most 100.
    var replicas: [(host: String, port: Int)] {
        (0..<min(100, max(0, number("connected_slaves") ?? 0))).compactMap { index in
            let parts = facts["slave\(index)"].map(Self.parts) ?? [:]
            guard let host = parts["ip"], let port = parts["port"].flatMap({ Int($0) }) else { return nil }
            return (host, port)
        }
    }

    /// Splits `a=1,b=2`.
    private static func parts(of value: String) -> [String: String] {
        pairs(value.split(separator: ","), at: "=")
    }

    private static func pairs(_ texts: [Substring], at mark: Character) -> [String: String] {
        let pairs = texts.compactMap { text -> (String, String)? in
            let parts = text.split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
