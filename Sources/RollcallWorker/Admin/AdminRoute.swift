// What the paths of the admin port mean. They are taken apart while still percent-encoded, since a conversation may be
// called `a/b` (in a path, `a%2Fb`), and each part is decoded by itself.

import RollcallModel

/// A path of the admin port, with what stands in braces left open.
enum AdminPlace: String, CaseIterable {
    case health = "/health"
    case ready = "/ready"
    case metrics = "/metrics"
    case document = "/openapi.yaml"
    case presence = "/v1/presence"
    case workers = "/v1/workers"
    case user = "/v1/users/{user}"
    case sessions = "/v1/users/{user}/sessions"
    case revocation = "/v1/users/{user}/revoke"
    case typing = "/v1/conversations/{conversation}/typing"
    case members = "/v1/conversations/{conversation}/members"
    case member = "/v1/conversations/{conversation}/members/{user}"

    /// Whether anybody may ask: those who watch over a worker know no token.
    var isOpen: Bool {
        switch self {
        case .health, .ready: true
        case .metrics, .document, .presence, .workers, .user, .sessions, .revocation, .typing, .members, .member: false
        }
    }

    /// What may be done there, as the `Allow` header lists it.
    var methods: String {
        switch self {
        case .health, .ready, .metrics, .document, .workers, .typing: "GET, HEAD"
        case .presence: "GET, HEAD, POST"
        case .user: "GET, HEAD, DELETE"
        case .sessions: "DELETE"
        case .revocation: "POST"
        case .members: "GET, HEAD, PUT, DELETE"
        case .member: "PUT, DELETE"
        }
    }

    /// What stands in the braces, in their order; `nil` if the path is another.
    fileprivate func names(in path: [Substring]) -> [Substring]? {
        let parts = rawValue.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == path.count else { return nil }
        let pairs = zip(parts, path)
        guard pairs.allSatisfy({ $0.0.first == "{" || $0.0 == $0.1 }) else { return nil }
        return pairs.filter { $0.0.first == "{" }.map(\.1)
    }
}

/// The place that a path names.
enum AdminRoute: Hashable {
    case health
    case ready
    case metrics
    case document
    case presence
    case workers
    case user(UserID)
    case sessions(of: UserID)
    case revocation(of: UserID)
    case typing(in: ConversationID)
    case members(of: ConversationID)
    case member(UserID, of: ConversationID)

    /// - Parameter path: as it stands in the request, without the query.
    /// - Throws: ``AdminProblem`` for a path that is none of ours, or that has a name in it that can be nobody's.
    init(path: String) throws(AdminProblem) {
        let path = path.split(separator: "/", omittingEmptySubsequences: false)
        for place in AdminPlace.allCases {
            if let names = place.names(in: path) {
                self = try Self.route(place, names)
                return
            }
        }
        throw AdminProblem(.notFound, "there is nothing at this path")
    }

    private static func route(_ place: AdminPlace, _ names: [Substring]) throws(AdminProblem) -> AdminRoute {
        switch place {
        case .health: .health
        case .ready: .ready
        case .metrics: .metrics
        case .document: .document
        case .presence: .presence
        case .workers: .workers
        case .user: .user(try AdminName.decoded(names[0], "the user"))
        case .sessions: .sessions(of: try AdminName.decoded(names[0], "the user"))
        case .revocation: .revocation(of: try AdminName.decoded(names[0], "the user"))
        case .typing: .typing(in: try AdminName.decoded(names[0], "the conversation"))
        case .members: .members(of: try AdminName.decoded(names[0], "the conversation"))
        case .member:
            .member(
                try AdminName.decoded(names[1], "the user"), of: try AdminName.decoded(names[0], "the conversation"))
        }
    }

    var place: AdminPlace {
        switch self {
        case .health: .health
        case .ready: .ready
        case .metrics: .metrics
        case .document: .document
        case .presence: .presence
        case .workers: .workers
        case .user: .user
        case .sessions: .sessions
        case .revocation: .revocation
        case .typing: .typing
        case .members: .members
        case .member: .member
        }
    }

    /// Of whom it is, for the audit.
    var user: UserID? {
        switch self {
        case .user(let user), .sessions(let user), .revocation(let user), .member(let user, _): user
        case .health, .ready, .metrics, .document, .presence, .workers, .typing, .members: nil
        }
    }
}
