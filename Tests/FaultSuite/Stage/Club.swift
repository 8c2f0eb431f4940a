// A managed conversation, which every round has: one member types on two devices, others are removed while they type,
// and users who never were members try to join and type all the time.

internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient

/// The users of a managed conversation.
final class Club: Sendable {
    private let stage: Stage
    private let backend: Backend
    private let conversation: ConversationID
    /// A member with two devices, on the first host and on the last.
    private let phone: Roamer
    private let laptop: Roamer
    /// Members who get removed, one on each host.
    private let removed: [Roamer]
    /// Users who are never members, one on each host.
    private let outsiders: [Roamer]
    private let tasks = NIOLockedValueBox<[Task<Void, any Error>]>([])
    private let removals = NIOLockedValueBox<[Task<Void, any Error>]>([])

    private static let pause = Duration.milliseconds(500)

    /// Connects all of them, and waits until observers see the member type.
    init(on stage: Stage) async throws {
        self.stage = stage
        backend = Backend(hosts: stage.hosts)
        conversation = try stage.naming.conversation("club")
        phone = try await stage.extra("insider")
        laptop = try await stage.extra("insider", "laptop")
        var (removed, outsiders): ([Roamer], [Roamer]) = ([], [])
        for host in stage.hosts {
            removed.append(try await stage.extra("removed\(host.number)"))
            outsiders.append(try await stage.extra("outsider\(host.number)"))
        }
        (self.removed, self.outsiders) = (removed, outsiders)
        let members = [phone.user] + (removed + stage.observers).map(\.user)
        _ = try await backend.setMembers(members, of: conversation)
        for outsider in outsiders { stage.exclude(outsider.user, from: conversation, since: nil) }
        try await phone.come(to: 0)
        try await laptop.come(to: stage.hosts.count - 1)
        for (number, person) in zip(removed, outsiders).enumerated() {
            try await person.0.come(to: number)
            try await person.1.come(to: number)
        }
        for member in [phone, laptop] + removed + stage.observers {
            try await member.ask(.join(conversation, presence: false))
        }
        for typist in [phone] + removed { try await typist.say(.typing(conversation, true)) }
        try await stage.see(([phone] + removed).map { .types($0.user, in: conversation) })
    }

    deinit {
        for task in tasks.withLockedValue({ $0 }) + removals.withLockedValue({ $0 }) { task.cancel() }
    }

    /// Lets all of them type or try to, and removes the members one after another.
    func begin() {
        let conversation = conversation
        for (device, number) in [(phone, 0), (laptop, 1)] {
            repeatedly(every: Self.pause * (2 + 3 * number)) {
                _ = try? await device.ask(.typing(conversation, true))
            }
        }
        for person in removed + outsiders {
            repeatedly(every: Self.pause) {
                _ = try? await person.ask(.join(conversation, presence: false))
                _ = try? await person.ask(.typing(conversation, true))
            }
        }
        for person in removed {
            let removal = Task { [stage, backend] in
                try await Task.sleep(for: .milliseconds(.random(in: 0...4000)))
                let moment = try await backend.remove(person.user, from: conversation)
                stage.exclude(person.user, from: conversation, since: moment)
            }
            removals.withLockedValue { $0.append(removal) }
        }
    }

    private func repeatedly(every pause: Duration, _ body: @escaping @Sendable () async -> Void) {
        let task = Task {
            while true {
                await body()
                try await Task.sleep(for: pause)
            }
        }
        tasks.withLockedValue { $0.append(task) }
    }

    /// Waits until the removals are done, and sets the members again if Redis lost them.
    func settle() async throws {
        try await withThrowingTimeout(.seconds(10), "members are removed") { [removals] in
            for removal in removals.withLockedValue({ $0 }) { try await removal.value }
        }
        guard let lost = stage.dataLostSince else { return }
        let members = [phone.user] + stage.observers.map(\.user)
        let restored = try await withThrowingTimeout(.seconds(10), "members are set again") { [backend, conversation] in
            try await backend.setMembers(members, of: conversation)
        }
        let known = restored + Promise.convergenceLimit
        stage.membersAreUnknown(from: lost, to: known)
        try await Task.sleep(until: known, clock: .continuous)
    }

    /// Checks that members see the member type at the end, and that all others are refused.
    func probe() async throws {
        for task in tasks.withLockedValue({ $0 }) { task.cancel() }
        try await stage.haveReturned([phone, laptop] + removed + outsiders)
        for person in removed + outsiders {
            for message in [ClientMessage.join(conversation, presence: false), .typing(conversation, true)] {
                let answer = try await person.ask(message)
                guard case .error(let error) = answer, [.notAMember, .notJoined].contains(error.code) else {
                    stage.found(.audience, broken: "\(person.user.escaped) is no member and was answered \(answer)")
                    continue
                }
            }
        }
        let typed = try await phone.say(.typing(conversation, true))
        await stage.seeSoon([.types(phone.user, in: conversation)])
        stage.expect(
            .types(phone.user, in: conversation), .change, since: typed, within: Promise.changeLimit, until: .now)
    }
}

/// Something did not end in time.
private struct Late: Error, CustomStringConvertible {
    let description: String
}

private func withThrowingTimeout<Result: Sendable>(
    _ limit: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw Late(description: "not within \(limit.short): \(what)")
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw Late(description: what) }
        return result
    }
}
