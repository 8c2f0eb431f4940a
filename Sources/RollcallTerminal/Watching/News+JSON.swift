// News for programs: an object with one key, which names the subject. `docs/terminal.md` defines the format. Keys may
// be added; none is removed or changes its meaning.

import RollcallClient

extension News: Encodable {
    private enum Key: String, CodingKey {
        case connection, typing, members, presence
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        switch self {
        case .connection(let state): try object.encode(ConnectionRecord(state), forKey: .connection)
        case .typing(let typing): try object.encode(TypingRecord(typing), forKey: .typing)
        case .members(let members): try object.encode(MembersRecord(members), forKey: .members)
        case .presence(let person): try object.encodeIfPresent(person.presence, forKey: .presence)
        }
    }
}

private struct ConnectionRecord: Encodable {
    var state: String
    var user: UserID?
    var device: DeviceID?
    var worker: String?
    var problem: Problem?

    init(_ state: ConnectionState) {
        switch state {
        case .idle: self.state = "idle"
        case .connecting: self.state = "connecting"
        case .connected(let session):
            self.state = "connected"
            (user, device, worker) = (session.user, session.device, session.worker)
        case .waiting(_, let reason):
            self.state = "waiting"
            problem = Problem(reason)
        case .failed(let error):
            self.state = "failed"
            problem = Problem(error)
        case .closed: self.state = "closed"
        }
    }
}

private struct TypingRecord: Encodable {
    let conversation: ConversationID
    let users: [Typist]
    let count: Int
    let problem: Problem?

    init(_ typing: Typing) {
        (conversation, users, count) = (typing.conversation, typing.typists, typing.count)
        problem = typing.refusal.map(Problem.init)
    }
}

private struct MembersRecord: Encodable {
    let conversation: ConversationID
    /// As in typing: the identifier, and the name if there is one.
    let users: [Typist]
    let count: Int
    let online: Int
    let problem: Problem?

    init(_ members: Members) {
        (conversation, count, online) = (members.conversation, members.count, members.groupCount.online)
        users = members.people.map { Typist(user: $0.user, name: $0.name) }
        problem = members.refusal.map(Problem.init)
    }
}

/// A ``RollcallError``, whose codes are stable.
private struct Problem: Encodable {
    let code: String
    let message: String

    init(_ error: RollcallError) {
        (code, message) = (error.code.rawValue, error.message)
    }
}
