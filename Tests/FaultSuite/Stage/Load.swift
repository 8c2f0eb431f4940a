// Users who change and type all the time, so that there are always operations in flight.

internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient

/// Load on a stage, until it is ended.
final class Load: Sendable {
    private let stage: Stage
    private let people: [Roamer]
    private let work: Task<Int, Never>

    /// How long each user waits after an answer: with two messages in between, this stays below the workers' limit of
    /// 50 messages per second.
    private static let pause = Duration.milliseconds(50)

    init(_ stage: Stage, _ people: [Roamer]) {
        (self.stage, self.people) = (stage, people)
        work = Task {
            await withTaskGroup(of: Int.self) { group in
                for person in people { group.addTask { await Self.live(person) } }
                return await group.reduce(0, +)
            }
        }
    }

    /// Ends the load, and makes all users active again.
    ///
    /// - Returns: how many messages were refused.
    @discardableResult
    func end() async throws -> Int {
        work.cancel()
        let refusals = await work.value
        for person in people {
            let moment = try await person.say(.state(.active))
            stage.converge(person.user, .online, after: moment)
        }
        return refusals
    }

    private static func live(_ person: Roamer) async -> Int {
        var refusals = 0
        var isIdle = false
        while !Task.isCancelled {
            isIdle.toggle()
            for message in [ClientMessage.state(isIdle ? .idle : .active), .typing("load", isIdle)] {
                if case .error = try? await person.ask(message) { refusals += 1 }
            }
            try? await Task.sleep(for: pause)
        }
        return refusals
    }
}

extension Stage {
    /// Starts load from two users on each host.
    func load() async throws -> Load {
        var people: [Roamer] = []
        for number in 0..<(2 * hosts.count) {
            let person = try await person("busy\(number)")
            try await person.come(to: number % hosts.count)
            try await person.ask(.join("load", presence: false))
            people.append(person)
        }
        try await see(people.map { .status($0.user, .online) })
        steady(people.map(\.user), who: .observers)
        return Load(self, people)
    }
}
