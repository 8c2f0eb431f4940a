// Redis's own errors: a word in capitals that programs may rely on, then a sentence that they may not.

import RollcallModel

/// An error that Redis answered, such as `READONLY You can't write against a read only replica.`
public struct RedisServerError: Error, Hashable, Sendable {
    private let storage: Storage

    /// The error's first word: `ERR`, `READONLY`, `OOM`, `NOSCRIPT`, `WRONGTYPE` and so on.
    public var kind: String { storage.kind }
    /// The sentence after it, without anything that a command was given as an argument.
    public var message: String { storage.message }

    /// Takes the line apart that Redis sent.
    ///
    /// Before 7.0, what fails inside a script comes wrapped as `ERR Error running script (call to f_…): …: -KIND …`;
    /// the error inside is the one that matters.
    public init(_ line: String) {
        let cause = Self.insideScript(line) ?? line[...]
        let (kind, message) = cause.cut(at: " ") ?? (String(cause), "")
        // An unknown command is answered with the beginning of its arguments.
        let end = message.firstBytes(of: ", with args beginning with")?.lowerBound ?? message.endIndex
        storage = Storage(kind: kind, message: String(message[..<end]))
    }

    private static func insideScript(_ line: String) -> Substring? {
        guard line.begins(with: "ERR Error running script"), let mark = line.firstBytes(of: ": -") else { return nil }
        return line[mark.upperBound...]
    }

    /// Whether the same command may succeed later, or at another server.
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

    /// Errors are rare and values are many: one reference keeps ``RedisValue`` at the size of a string.
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
