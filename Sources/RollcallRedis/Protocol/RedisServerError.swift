// Error replies of Redis: a code in capitals that programs may rely on, and a sentence that they must not rely on.

import RollcallModel

/// An error reply of Redis, such as `READONLY You can't write against a read only replica.`
public struct RedisServerError: Error, Hashable, Sendable {
    private let storage: Storage

    /// The first word: `ERR`, `READONLY`, `OOM`, `NOSCRIPT`, `WRONGTYPE` and so on.
    public var kind: String { storage.kind }
    /// The sentence after it, without any arguments of the command.
    public var message: String { storage.message }

    /// Parses the line that Redis sent.
    ///
    /// Before Redis 7.0, an error inside a script is wrapped as `ERR Error running script (call to f_…): …: -KIND …`;
    /// this takes the inner error.
    public init(_ line: String) {
        let cause = Self.insideScript(line) ?? line[...]
        let (kind, message) = cause.cut(at: " ") ?? (String(cause), "")
        // Redis replies to an unknown command with the first of its arguments.
        let end = message.firstBytes(of: ", with args beginning with")?.lowerBound ?? message.endIndex
        storage = Storage(kind: kind, message: String(message[..<end]))
    }

    private static func insideScript(_ line: String) -> Substring? {
        guard line.begins(with: "ERR Error running script"), let mark = line.firstBytes(of: ": -") else { return nil }
        return line[mark.upperBound...]
    }

    /// Whether the same command may succeed later, or on another server.
    public var retry: Bool {
        switch kind {
        case "ASK", "BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "MOVED", "NOREPLICAS", "OOM",
            "READONLY", "TRYAGAIN":
            true
        default: false
        }
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.message == right.message
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(message)
    }

    /// A single reference, because errors are rare and values are many: it keeps ``RedisValue`` at the size of a
    /// string.
    private final class Storage: Sendable {
        let kind: String
        let message: String

        init(kind: String, message: String) {
            self.kind = kind
            self.message = message
        }
    }
}

extension RedisServerError: CustomStringConvertible {
    public var description: String { "\(kind) \(message)" }
}
