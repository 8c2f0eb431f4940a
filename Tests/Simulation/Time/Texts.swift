// How values are written in a trace.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

extension Published {
    var text: String {
        switch self {
        case .typing(let change, let conversation):
            change.typing
                ? "\(change.user) \(change.kind.verb) in \(conversation) for \(change.expiresIn ?? 0)"
                : "\(change.user) has stopped in \(conversation)"
        case .presence(let change, let devices): "\(change.presence.text), on \(devices)"
        case .person(let change): "\(change.user) decides \(change.person)"
        case .members(let change, let conversation): "\(change) of \(conversation)"
        case .here(let change, let conversation):
            "\(change.user) is \(change.here?.text ?? "gone") in \(conversation), of \(change.count)"
        case .notice(let notice, let incarnation): "\(notice) to \(incarnation)"
        }
    }
}

extension Presence {
    var text: String { "\(user) \(status) at \(version % 1_000_000)" }
}

extension Topic {
    var text: String {
        switch self {
        case .typing(let conversation): "typing \(conversation)"
        case .members(let conversation): "members \(conversation)"
        case .presence(let user): "presence \(user)"
        case .here(let conversation): "here \(conversation)"
        case .worker(let incarnation): "worker \(incarnation)"
        }
    }
}

extension SessionName {
    var text: String { "\(user)/\(device)/\(session)" }
}

extension ListItem {
    var text: String {
        switch self {
        case .session(let session): session.text
        case .entry(let entry): "\(entry.session.text) in \(entry.conversation)"
        }
    }
}

extension HereUser {
    var text: String {
        "here\(isIdle ? ", idle," : "") since \(since.milliseconds % 1_000_000)\(data.map { " with \($0.text)" } ?? "")"
    }
}

extension TypingKind {
    fileprivate var verb: String { self == .typing ? "types" : "is \(rawValue)" }
}

extension ClientMessage {
    var text: String {
        switch self {
        case .hello(let hello): "hello, \(hello.state)"
        case .token: "token"
        case .state(let state): "\(state)"
        case .watch(let users): "watch \(users.map(\.text).joined(separator: " "))"
        case .unwatch(let users): "unwatch \(users.map(\.text).joined(separator: " "))"
        case .get(let users): "get \(users.map(\.text).joined(separator: " "))"
        case .join(let conversation, _, let here): "join \(conversation)\(here ? " and who is here" : "")"
        case .enter(let conversation, let data): "enter \(conversation)\(data.map { " with \($0.text)" } ?? "")"
        case .exit(let conversation): "exit \(conversation)"
        case .leave(let conversation): "leave \(conversation)"
        case .typing(let conversation, let isTyping, let kind): "\(isTyping ? kind.verb : "stops") in \(conversation)"
        case .person(let patch): "person \(patch)"
        case .ping: "ping"
        case .goodbye: "goodbye"
        }
    }
}

extension ServerMessage {
    var text: String {
        switch self {
        case .welcome(let welcome): "welcome, \(welcome.session)"
        case .presence(let presences, _): presences.map(\.text).joined(separator: ", ")
        case .typing(let typing):
            "in \(typing.conversation) type \(typing.count): \(typing.users.map(\.user.text).joined(separator: " "))"
        case .members(let members): "\(members.count) belong to \(members.conversation)"
        case .here(let here):
            "in \(here.conversation) are \(here.count): \(here.users.map(\.user.text).joined(separator: " "))"
        case .removed(let conversation): "removed from \(conversation)"
        case .person(let person): "its settings \(person.revision)"
        case .pong: "pong"
        case .ack(let id): "ack \(id)"
        case .error(let error): "error \(error.code)"
        case .goodbye(let goodbye): "goodbye, \(goodbye.reason)"
        }
    }
}

extension StatusSet {
    var text: String { statuses.map(\.rawValue).sorted().joined(separator: " or ") }
}

extension StateSet {
    var text: String {
        let names: [(StateSet, String)] = [
            (.active, "active"), (.idle, "idle"), (.background, "background"), (.gone, "gone"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: "|")
    }
}

extension DeviceName {
    var text: String { "\(user)/\(device)" }
}

extension String {
    /// The same text with escapes, so that names which look alike can be told apart.
    var spelledOut: String {
        unicodeScalars.map { $0.isASCII ? String($0) : "\\u{\(String($0.value, radix: 16))}" }.joined()
    }
}
