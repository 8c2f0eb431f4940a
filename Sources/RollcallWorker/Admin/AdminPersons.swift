// What users have decided that others see, for apps' servers: all of it, blocks included, which also stop messages and so are the
// server's.

import Hummingbird
import RollcallProtocol
import RollcallServer

/// Changes of a user's settings, and with `PUT` of whom they have blocked.
struct AdminPersonChange: AdminRequestBody {
    static let form = #"{"presence":"shared","availability":"dnd","for":3600000}"#

    let patch: PersonPatch
    /// `nil` if the body does not say it.
    let blocked: [UserID]?

    init(json: JSONValue) throws(UnexpectedJSON) {
        (patch, blocked) = (try PersonPatch(json: json), try json.optionalField("blocked"))
    }
}

/// A user's settings, and whom they have blocked, since when.
struct AdminPerson: JSONWritable {
    let person: Person

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("blocked", Blocked(since: person.blocked))
            json.field("revision", person.revision)
            person.writeSettings(to: &json)
        }
    }

    private struct Blocked: JSONWritable {
        let since: [UserID: Timestamp]

        func write(to json: inout JSONWriter) {
            json.object { json in
                for (user, time) in since.sorted(by: { $0.key < $1.key }) { json.field(named: user.text, time) }
            }
        }
    }
}

extension AdminRoutes {
    var personRoutes: [AdminRoute] {
        let (person, other) = ("/v1/users/{user}/person", "/v1/users/{user}/blocked/{other}")
        return [
            AdminRoute(.get, person, .app) {
                AdminJSON.response(AdminPerson(person: try await node.person(of: $0.user()) ?? Person()))
            },
            AdminRoute(.put, person, .app, isAudited: true) { call in
                let change = try await call.body(AdminPersonChange.self)
                let blocks = Dictionary((change.blocked ?? []).map { ($0, true) }) { first, _ in first }
                let kind: PersonWrite.Kind = change.blocked == nil ? .settings : .all
                return try await changed { try await node.change(call.user(), kind, change.patch, blocks: blocks) }
            },
            AdminRoute(.patch, person, .app, isAudited: true) { call in
                let change = try await call.body(AdminPersonChange.self)
                guard change.blocked == nil else {
                    throw AdminProblem(
                        .badRequest,
                        "PATCH changes settings: block with PUT /v1/users/{user}/blocked/{other}, or replace all with PUT"
                    )
                }
                return try await changed { try await node.change(call.user(), .patch, change.patch, blocks: [:]) }
            },
            AdminRoute(.put, other, .app, isAudited: true) { try await block(true, $0) },
            AdminRoute(.delete, other, .app, isAudited: true) { try await block(false, $0) },
        ]
    }

    private func block(_ isBlocked: Bool, _ call: AdminCall) async throws -> Response {
        let other: UserID = try AdminCall.name(call.text("other"), "the other user")
        _ = try await changed {
            try await node.change(call.user(), .patch, PersonPatch(), blocks: [other: isBlocked])
        }
        return Response(status: .noContent)
    }

    private func changed(_ change: () async throws -> Person) async throws -> Response {
        do {
            return AdminJSON.response(AdminPerson(person: try await change()))
        } catch let error as UnexpectedJSON {
            throw AdminProblem(.badRequest, "\(error)")
        } catch is TooManyBlocked {
            throw AdminProblem(.limit, "a user blocks at most \(Person.mostBlocked) others")
        }
    }
}
