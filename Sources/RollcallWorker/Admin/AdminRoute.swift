// What the paths of the admin port mean. They are taken apart while still percent-encoded, since a conversation may be
// called `a/b` (in a path, `a%2Fb`), and each part is decoded by itself.

import RollcallModel

/// A path of the admin port, with what stands in braces left open.
enum AdminPlace: String, CaseIterable {
    case health = "/health"
    case ready = "/ready"
    case metrics = "/metrics"
    case document = "/openapi.yaml"
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

    /// Where anybody may ask: those who watch over a worker know no token, and a browser shows none to have a page.
    static let open: Set<AdminPlace> = [.health, .ready, .livePage, .liveFile]

    /// What may be done there, as the `Allow` header lists it.
    var methods: String {
        switch self {
        case .health, .ready, .metrics, .document, .livePage, .liveFile, .workers, .live, .typing: "GET, HEAD"
        case .presence: "GET, HEAD, POST"
        case .user: "GET, HEAD, DELETE"
        case .sessions: "DELETE"
        case .revocation: "POST"
        case .members: "GET, HEAD, PUT, DELETE"
        case .member: "PUT, DELETE"
        }
    }

    /// Each with its path, taken apart.
    fileprivate static let all = allCases.map { place in
        (place: place, parts: place.rawValue.parts(at: "/"))
    }
}

/// The place that a path names, and whom it names.
struct AdminRoute: Hashable {
    let place: AdminPlace
    /// Set exactly where the place has `{user}`.
    private(set) var user: UserID?
    /// Set exactly where the place has `{conversation}`.
    private(set) var conversation: ConversationID?
    /// Set exactly where the place has `{file}`.
    private(set) var file: LivePage?

    /// - Parameter path: as it stands in the request, without the query.
    /// - Throws: ``AdminProblem`` for a path that is none of ours, or that has a name in it that can be nobody's.
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
