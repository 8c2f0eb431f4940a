// The application's own server: it sets the members of conversations, and says who is here, through any worker that answers,
// and retries until one does.

internal import Foundation
internal import Harness
internal import NIOCore
internal import RollcallClient

/// Sets and removes members, and shows users, over HTTP.
struct Backend: Sendable {
    let hosts: [Host]

    private static let timeout = Duration.seconds(2)
    private static let pause = Duration.milliseconds(100)

    /// Replaces the members of a conversation with these users.
    ///
    /// - Returns: when it was confirmed.
    func setMembers(_ users: [UserID], of conversation: ConversationID) async throws -> Moment {
        // Not a dictionary, which would merge names that are canonically equivalent in Unicode.
        let members = try users.map { "\(try json($0.text)):\(try json("\($0.escaped)"))" }.joined(separator: ",")
        return try await confirmed("PUT", path(of: conversation), json: "{\"members\":{\(members)}}")
    }

    /// Removes a member.
    ///
    /// - Returns: when it was confirmed.
    func remove(_ user: UserID, from conversation: ConversationID) async throws -> Moment {
        try await confirmed("DELETE", "\(path(of: conversation))/\(user.percentEncoded)")
    }

    /// Shows a user as being here for so many seconds.
    func enter(_ user: UserID, in conversation: ConversationID, seconds: Int) async throws {
        let path = "/v1/conversations/\(conversation.percentEncoded)/here/\(user.percentEncoded)"
        _ = try await confirmed("PUT", path, json: #"{"for":"\#(seconds)s"}"#)
    }

    /// Returns who is here, as one worker says it; `nil` without an answer.
    static func here(in conversation: ConversationID, asking host: Host) async -> [UserID]? {
        struct Answer: Decodable {
            struct User: Decodable { let user: UserID }
            let users: [User]
        }
        guard let port = host.running?.adminPort, let line = try? await HTTPLine(port: port),
            let answer = try? await line.send(
                "GET", "/v1/conversations/\(conversation.percentEncoded)/here", within: timeout)
        else { return nil }
        return try? JSONDecoder().decode(Answer.self, from: Data(answer.body.readableBytesView)).users.map(\.user)
    }

    private func path(of conversation: ConversationID) -> String {
        "/v1/conversations/\(conversation.percentEncoded)/members"
    }

    private func json(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    private func confirmed(_ method: String, _ path: String, json: String? = nil) async throws -> Moment {
        while true {
            try Task.checkCancellation()
            let port = hosts.compactMap(\.running).randomElement()?.adminPort
            if let port, let line = try? await HTTPLine(port: port),
                let answer = try? await line.send(method, path, json: json, within: Self.timeout)
            {
                guard answer.status != 400 else {
                    throw Refused(description: "\(path): \(String(buffer: answer.body))")
                }
                if answer.status == 204 { return .now }
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// A worker rejected the request.
    private struct Refused: Error, CustomStringConvertible {
        let description: String
    }
}
