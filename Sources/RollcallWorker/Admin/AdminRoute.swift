// What the paths of the admin port mean. They are taken apart while still percent-encoded, since a conversation may be
// called `a/b` (in a path, `a%2Fb`), and each part is decoded by itself.

import RollcallModel

/// The place that a path names.
enum AdminRoute: Hashable {
    case health
    case ready
    case metrics
    case presence
    case typing(in: ConversationID)
    case members(of: ConversationID)
    case member(UserID, of: ConversationID)

    /// - Parameter path: as it stands in the request, without the query.
    /// - Throws: ``AdminProblem`` for a path that is none of ours, or that has a name in it that can be nobody's.
    init(path: String) throws(AdminProblem) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        switch (parts.count, parts.first, parts.dropFirst().first, parts.dropFirst(3).first) {
        case (1, "health", _, _): self = .health
        case (1, "ready", _, _): self = .ready
        case (1, "metrics", _, _): self = .metrics
        case (2, "v1", "presence", _): self = .presence
        case (4, "v1", "conversations", "typing"):
            self = .typing(in: try AdminName.decoded(parts[3], "the conversation"))
        case (4, "v1", "conversations", "members"):
            self = .members(of: try AdminName.decoded(parts[3], "the conversation"))
        case (5, "v1", "conversations", "members"):
            self = .member(
                try AdminName.decoded(parts[5], "the user"),
                of: try AdminName.decoded(parts[3], "the conversation"))
        default: throw AdminProblem(.notFound, "there is nothing at this path")
        }
    }

    /// Whether anybody may ask: those who watch over a worker know no token.
    var isOpen: Bool {
        switch self {
        case .health, .ready: true
        case .metrics, .presence, .typing, .members, .member: false
        }
    }

    /// What may be done there, as the `Allow` header lists it.
    var methods: String {
        switch self {
        case .health, .ready, .metrics, .typing: "GET, HEAD"
        case .presence: "GET, HEAD, POST"
        case .members: "GET, HEAD, PUT, DELETE"
        case .member: "PUT, DELETE"
        }
    }
}

/// Names in paths and queries.
enum AdminName {
    static func decoded<Kind>(
        _ text: some StringProtocol, _ what: String
    ) throws(AdminProblem) -> Identifier<Kind> {
        guard let name = percentDecoded(text) else {
            throw AdminProblem(.badRequest, "\(what) is not percent-encoded UTF-8")
        }
        do {
            return try Identifier(name)
        } catch {
            throw AdminProblem(.badRequest, "\(what) has a wrong name: \(error)")
        }
    }

    /// The text that a percent-encoded one stands for. A plus is a plus: no name has a blank to be written as one.
    static func percentDecoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = hex(rest.popFirst()), let low = hex(rest.popFirst()) else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hex(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
    }
}
