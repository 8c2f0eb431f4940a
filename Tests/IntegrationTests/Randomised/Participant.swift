// One of the twelve devices: its requests, and what it was shown.

import Foundation
import Harness
import RollcallModel
import TestSupport

/// A device in the randomised test, connected or not.
final class Participant {
    let name: DeviceName
    private(set) var wire: WireDevice?
    /// When it last sent anything.
    private(set) var lastByte = Date.distantPast
    private(set) var watched: Set<UserID> = []
    /// The conversations that it joined, and whether with the presence of their members.
    private(set) var joined: [ConversationID: Bool] = [:]
    private(set) var presences: [UserID: Presence] = [:]
    private(set) var typings: [ConversationID: ServerMessage.Typing] = [:]
    /// The conversations from which the worker has not removed it yet.
    private var removals: [ConversationID: Int] = [:]
    /// Requests without an answer so far, with the error that should come, if any.
    private var pending: [MessageID: MessageError.Code?] = [:]
    private var messagesRead = 0
    /// Earlier sessions that must end with this close code.
    private var endings: [(wire: WireDevice, code: CloseCode)] = []

    init(_ name: DeviceName) {
        self.name = name
    }

    var isConnected: Bool { wire != nil }
    var isSettled: Bool { pending.isEmpty && removals.values.allSatisfy { $0 == 0 } && endings.isEmpty }

    // MARK: Actions

    func connect(to worker: WorkerProcess, _ state: DeviceState) async throws {
        if let wire { endings.append((wire, .replaced)) }
        reset()
        lastByte = .now
        wire = try await worker.device(name.user.text, name.device.text, state: state)
    }

    func drop() {
        wire?.drop()
        reset()
    }

    func goodbye() async throws {
        guard let wire else { return }
        lastByte = .now
        try await wire.send(.goodbye)
        endings.append((wire, .normal))
        reset()
    }

    /// Sends a message whose answer is checked later.
    func send(_ message: ClientMessage, expecting error: MessageError.Code? = nil) async throws {
        guard let wire else { return }
        lastByte = .now
        pending[try await wire.send(message)] = .some(error)
    }

    /// Sends a message and waits for its answer.
    func ask(_ message: ClientMessage) async throws -> MessageError? {
        lastByte = .now
        return try await wire?.ask(message)
    }

    func watches(_ user: UserID) { watched.insert(user) }
    func watchesNoMore(_ user: UserID) { watched.remove(user) }
    func joins(_ conversation: ConversationID, presence: Bool) { joined[conversation] = presence }
    func leaves(_ conversation: ConversationID) { forget(conversation) }

    /// The membership ended: the worker will send a notification.
    func willBeRemoved(from conversation: ConversationID) {
        guard joined[conversation] != nil else { return }
        removals[conversation, default: 0] += 1
        forget(conversation)
    }

    private func forget(_ conversation: ConversationID) {
        joined[conversation] = nil
        typings[conversation] = nil
    }

    private func reset() {
        wire = nil
        (watched, joined, presences, typings, removals, pending, messagesRead) = ([], [:], [:], [:], [:], [:], 0)
    }

    // MARK: Display

    /// Reads what has arrived, and compares each message with the expected state over time.
    ///
    /// - Returns: the differences.
    func look(_ model: Model) async throws -> [String] {
        var problems = try await lookAtEndings()
        guard let wire else { return problems }
        try await wire.look()
        if let close = wire.close { problems.append("\(name) was closed: \(String(describing: close.code))") }
        let news = wire.messages[messagesRead...]
        messagesRead = wire.messages.count
        for message in news { problems += take(message, model) }
        return problems
    }

    private func lookAtEndings() async throws -> [String] {
        var problems: [String] = []
        for ending in endings {
            try await ending.wire.look()
            guard let close = ending.wire.close, close.code != ending.code else { continue }
            problems.append(
                "\(name)'s earlier session ended with \(String(describing: close.code)), not \(ending.code)")
        }
        endings.removeAll { $0.wire.close != nil }
        return problems
    }

    private func take(_ message: ServerMessage, _ model: Model) -> [String] {
        switch message {
        case .welcome, .members, .pong: return []
        case .goodbye(let goodbye): return ["\(name) received goodbye: \(goodbye.reason)"]
        case .ack(let id):
            guard case .some(.some(let code)) = pending.removeValue(forKey: id) else { return [] }
            return ["\(name)'s message \(id) was acknowledged, not refused with \(code)"]
        case .error(let error):
            // Without an entry, ``ask(_:)`` waits for the answer and checks it.
            guard let id = error.id, let expected = pending.removeValue(forKey: id) else { return [] }
            return expected == error.code ? [] : ["\(name)'s message \(id) got \(error.code): \(error.message)"]
        case .removed(let conversation):
            removals[conversation, default: 0] -= 1
            return removals[conversation, default: 0] < 0 ? ["\(name) was removed from \(conversation)"] : []
        case .presence(let presences, _):
            for presence in presences { self.presences[presence.user] = presence }
            return presences.flatMap { model.problems(with: $0, for: name) }
        case .typing(let typing):
            if joined[typing.conversation] != nil { typings[typing.conversation] = typing }
            return model.problems(with: typing, for: name)
        }
    }
}

extension Model {
    /// How late a message may be on a busy machine. This is shorter than the typing expiry; otherwise, typing that
    /// expires too soon would look like typing that has not started.
    private static let late = Duration.seconds(2)
    /// How much earlier the clock of another process may pass a deadline.
    private static let early = Duration.milliseconds(150)

    fileprivate func problems(with presence: Presence, for receiver: DeviceName) -> [String] {
        let now = Instant.now
        let possible = possibleStatuses(of: presence.user, from: now - Self.late, to: now + Self.early)
        return possible.contains(presence.status)
            ? [] : ["\(receiver) was shown \(presence.user) \(presence.status), who was \(possible)"]
    }

    fileprivate func problems(with typing: ServerMessage.Typing, for receiver: DeviceName) -> [String] {
        let now = Instant.now
        let possible = (typists[typing.conversation]?.values(from: now - Self.late, to: now + Self.early) ?? [])
            .map { $0.subtracting([receiver.user]) }
        let may = possible.reduce(into: Set<UserID>()) { $0.formUnion($1) }
        let must = possible.dropFirst().reduce(possible.first ?? []) { $0.intersection($1) }
        let named = Set(typing.users.map(\.user))
        let isPossible =
            named.isSubset(of: may) && (must.count...max(must.count, may.count)).contains(typing.count)
            && (typing.count > named.count || must.isSubset(of: named))
        return isPossible ? [] : ["\(receiver) was shown \(typing), where \(possible) typed"]
    }
}
