// Paths of the admin port. A path is split while still percent-encoded, because a conversation may be named `a/b`
// (`a%2Fb` in a path). Each part is then decoded separately.

import RollcallModel

/// A path of the admin port, with placeholders in braces.
enum AdminPlace: String, CaseIterable {
    case health = "/health"
    case ready = "/ready"
    case metrics = "/metrics"
    case livePage = "/live"
    case liveFile = "/live/{file}"
    case presence = "/v1/presence"
    case workers = "/v1/workers"
    case live = "/v1/live"
    case user = "/v1/users/{user}"
    case sessions = "/v1/users/{user}/sessions"
    case revocation = "/v1/users/{user}/revoke"
    case typing = "/v1/conversations/{conversation}/typing"
    case members = "/v1/conversations/{conversation}/members"
    case member = "/v1/conversations/{conversation}/members/{user}"

    /// Places that need no token: health checks have none, and browsers send none when they load a page.
    static let open: Set<AdminPlace> = [.health, .ready, .livePage, .liveFile]

    /// The methods allowed, as in the `Allow` header.
    var methods: String {
        switch self {
        case .health, .ready, .metrics, .livePage, .liveFile, .workers, .live, .typing: "GET, HEAD"
        case .presence: "GET, HEAD, POST"
        case .user: "GET, HEAD, DELETE"
        case .sessions: "DELETE"
        case .revocation: "POST"
        case .members: "GET, HEAD, PUT, DELETE"
        case .member: "PUT, DELETE"
        }
    }

    /// Each place with its path, split into parts.
    fileprivate static let all = allCases.map { place in
        (place: place, parts: place.rawValue.parts(at: "/"))
    }
}

/// The place that a path names, with the user, conversation or file in it.
struct AdminRoute: Hashable {
    let place: AdminPlace
    /// Set exactly when the place has `{user}`.
    private(set) var user: UserID?
    /// Set exactly when the place has `{conversation}`.
    private(set) var conversation: ConversationID?
    /// Set exactly when the place has `{file}`.
    private(set) var file: LivePage?

    /// - Parameter path: The request's path, without the query.
    /// - Throws: ``AdminProblem`` for an unknown path, or an invalid name in it.
    init(path: String) throws(AdminProblem) {
        let path = path.parts(at: "/")
        guard let (place, parts) = AdminPlace.all.first(where: { Self.fits(path, $0.parts) }) else {
            throw AdminProblem(.notFound, "there is nothing at this path")
        }
        self.place = place
        for (part, name) in zip(parts, path) {
            if part == "{user}" { user = try AdminName.decoded(name, "the user") }
            if part == "{file}" { file = try LivePage.named(name) }
            if part == "{conversation}" { conversation = try AdminName.decoded(name, "the conversation") }
        }
    }

    private static func fits(_ path: [String], _ parts: [String]) -> Bool {
        path.count == parts.count && zip(parts, path).allSatisfy { $0.begins(with: "{") || $0.isSame(as: $1) }
    }
}
