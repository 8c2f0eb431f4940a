// Requests that act on users.

import Hummingbird
import RollcallModel
import RollcallShards

extension AdminResponder {
    func sendAway(_ user: UserID, _ request: Request) async throws -> Response {
        let query = AdminQuery(request.uri.query)
        try query.demand(only: "device")
        let devices: [DeviceID] = try query.names("device")
        guard devices.count <= 1 else { throw AdminProblem(.badRequest, "name one device, or none to mean all") }
        return AdminJSON.response(try await node.sendAway(user, device: devices.first))
    }

    func erase(_ user: UserID, _ request: Request) async throws -> Response {
        let query = AdminQuery(request.uri.query)
        try query.demand(only: "conversation")
        let conversations: [ConversationID] = try query.names("conversation")
        guard conversations.count <= AdminUsers.most else {
            throw AdminProblem(.limit, "one request can name at most \(AdminUsers.most) conversations")
        }
        guard try await node.erase(user, conversations: conversations) else {
            throw AdminProblem.unavailable("a session of the user would not end", retryAfter: .seconds(1))
        }
        return Response(status: .noContent)
    }
}
