// Twelve devices, their workers, and the model of what they do.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Twelve devices of six users on three workers.
final class Dozen {
    private let deployment: Deployment
    private let people: [UserID] = ["alice", "bob", "carol", "dave", "erin", "zoë"]
    private let open: ConversationID = "c0"
    private let managed: [ConversationID] = ["c1", "c/2"]
    private let participants: [Participant]
    private var model: Model
    private var random: SeededGenerator
    /// What was done, to find the cause of a failure.
    private(set) var log: [String] = []
    private let started = ContinuousClock.now

    private var conversations: [ConversationID] { [open] + managed }

    init(seed: UInt64) async throws {
        random = SeededGenerator(seed: seed)
        deployment = try await Deployment(
            workers: 3,
            settings: [
                "typing.expiry": "3s", "typing.throttle": "200ms", "typing.coalesce": "100ms", "typing.names": "2",
                "presence.grace": "1s", "worker.drain": "0s", "edge.ping": "60s",
            ])
        let names = people.flatMap { user in
            [DeviceName(user: user, device: "phone"), DeviceName(user: user, device: "laptop")]
        }
        participants = names.map(Participant.init)
        model = Model(
            devices: names, conversations: [open] + managed,
            settings: .init(expiry: .seconds(3), grace: .seconds(1)), now: .now)
    }

    // MARK: Operations

    /// Performs one random operation among those that are possible.
    func doSomething() async throws {
        try await look()
        if chance(of: 4) { return try await changeMembers() }
        let participant = any(participants)
        guard participant.isConnected else { return try await connect(participant) }
        switch Int.random(in: 0..<100, using: &random) {
        case ..<5: try await goodbye(participant)
        case ..<10: try await drop(participant)
        case ..<13: try await connect(participant)
        case ..<25: try await changeState(participant)
        case ..<33: try await watch(participant)
        case ..<37: try await unwatch(participant)
        case ..<52: try await join(participant)
        case ..<58: try await leave(participant)
        case ..<88: try await type(participant)
        case ..<94: try await stopTyping(participant)
        default: try await pause()
        }
    }

    private func connect(_ participant: Participant) async throws {
        // Waits until the requests of an earlier session have taken effect, since they could be processed after this
        // one.
        try await settle([participant])
        let (worker, state) = (any(deployment.workers), anyState())
        note("\(participant.name) connects to \(worker.incarnation), \(state)")
        model.connected(participant.name, state, at: .now)
        try await participant.connect(to: worker, state)
    }

    private func goodbye(_ participant: Participant) async throws {
        note("\(participant.name) says goodbye")
        model.saidGoodbye(participant.name, at: .now)
        try await participant.goodbye()
    }

    private func drop(_ participant: Participant) async throws {
        try await settle([participant])
        note("\(participant.name) is lost")
        model.dropped(participant.name, lastByte: participant.lastByte, at: .now)
        participant.drop()
    }

    private func changeState(_ participant: Participant) async throws {
        let state = anyState()
        note("\(participant.name) is \(state)")
        model.stateChanged(participant.name, to: state, at: .now)
        try await participant.send(.state(state))
    }

    private func watch(_ participant: Participant) async throws {
        let users = people.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        note("\(participant.name) watches \(users)")
        for user in users { participant.watches(user) }
        try await participant.send(.watch(Array(users)))
    }

    private func unwatch(_ participant: Participant) async throws {
        let user = any(people)
        note("\(participant.name) unwatches \(user)")
        participant.watchesNoMore(user)
        try await participant.send(.unwatch([user]))
    }

    private func join(_ participant: Participant) async throws {
        let conversation = any(conversations)
        let presence = participant.joined[conversation] ?? chance(of: 50)
        note("\(participant.name) joins \(conversation), presence \(presence)")
        try await eventually("the join is checked against the current members", within: .seconds(1)) {
            let error = try await participant.ask(.join(conversation, presence: presence))
            if error == nil { participant.joins(conversation, presence: presence) }
            if model.mayJoin(participant.name.user, conversation) { return error == nil }
            // A worker that does not know of the removal yet may accept the join, but not for long.
            if error == nil { participant.willBeRemoved(from: conversation) }
            return error == nil || error?.code == .notAMember
        }
    }

    private func leave(_ participant: Participant) async throws {
        let conversation = any(conversations)
        note("\(participant.name) leaves \(conversation)")
        model.stopped(participant.name, in: conversation, at: .now)
        participant.leaves(conversation)
        try await participant.send(.leave(conversation))
    }

    private func type(_ participant: Participant) async throws {
        let conversation = any(conversations)
        guard model.state(of: participant.name) != .background else { return }
        note("\(participant.name) types in \(conversation)")
        guard participant.joined[conversation] != nil else {
            return try await participant.send(.typing(conversation, true), expecting: .notJoined)
        }
        model.signalled(participant.name, in: conversation, at: .now)
        try await participant.send(.typing(conversation, true))
    }

    private func stopTyping(_ participant: Participant) async throws {
        guard let conversation = participant.joined.keys.sorted().randomElement(using: &random) else { return }
        note("\(participant.name) stops in \(conversation)")
        model.stopped(participant.name, in: conversation, at: .now)
        try await participant.send(.typing(conversation, false))
    }

    private func pause() async throws {
        let end = ContinuousClock.now + .milliseconds(Int.random(in: 0...600, using: &random))
        note("nothing happens")
        try await eventually("time passes") {
            try await look()
            return ContinuousClock.now >= end
        }
    }

    // MARK: Members

    private func changeMembers() async throws {
        // Requests in flight are checked against the previous members.
        try await settle(participants)
        let (conversation, user) = (any(managed), any(people))
        let members = model.members[conversation]
        switch Int.random(in: 0..<10, using: &random) {
        case ..<4:
            try await change(conversation, to: (members ?? []).union([user]), "PUT", "/\(user)", ["name": "\(user)"])
        case ..<7:
            try await change(conversation, to: members?.subtracting([user]), "DELETE", "/\(user)")
        case ..<9:
            let chosen = people.shuffled(using: &random).prefix(Int.random(in: 0...6, using: &random))
            let names = Dictionary(uniqueKeysWithValues: chosen.map { ($0.text, $0.text) })
            try await change(conversation, to: Set(chosen), "PUT", "", ["members": names])
        default:
            try await change(conversation, to: nil, "DELETE", "")
        }
    }

    private func change(
        _ conversation: ConversationID, to members: Set<UserID>?, _ method: String, _ path: String,
        _ body: [String: Any]? = nil
    ) async throws {
        note("the members of \(conversation) become \(members.map { "\($0.sorted())" } ?? "nil, not managed")")
        model.membersBecame(members, in: conversation, at: .now)
        for participant in participants where !model.mayJoin(participant.name.user, conversation) {
            participant.willBeRemoved(from: conversation)
        }
        let base = any(deployment.workers).admin + "/v1/conversations/"
        let name = try #require(conversation.text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let suffix = try #require(path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed))
        var request = URLRequest(url: try #require(URL(string: "\(base)\(name)/members\(suffix)")))
        request.httpMethod = method
        if let body {
            request.httpBody = try JSONSerialization.data(withJSONObject: body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (answer, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200..<300).contains(status) else {
            throw Timeout(
                description: "\(method) \(request.url!) got \(status): \(String(decoding: answer, as: UTF8.self))")
        }
        try await settle(participants, "users who are not members have left", within: .seconds(1))
    }

    // MARK: Agreement

    /// Waits until all requests have taken effect and all observers see the result.
    func agree(after operation: Int) async throws {
        try await settle(participants)
        var differences: [String] = []
        do {
            try await eventually("agreement", within: .seconds(5), every: .milliseconds(30)) {
                try await look()
                differences = participants.flatMap(differencesSeen)
                if differences.isEmpty { differences = try await differencesInRedis() }
                return differences.isEmpty
            }
        } catch is Timeout {
            throw Timeout(description: "after \(operation): \(differences.joined(separator: "; "))")
        }
    }

    /// Disconnects all devices, after which Redis holds nothing but offline users.
    func leave() async throws {
        for participant in participants where participant.isConnected { try await goodbye(participant) }
        try await agree(after: 1000)
        for worker in deployment.workers {
            try await eventually("\(worker.incarnation) holds no sessions") {
                try await deployment.redis.cli("EXISTS", "worker:{\(worker.incarnation)}:sessions") == "0"
            }
            worker.process.signal(SIGTERM)
        }
        for worker in deployment.workers { #expect(try await worker.process.exitCode() == 0) }
    }

    private func look() async throws {
        model.advance(to: .now)
        for participant in participants {
            let problems = try await participant.look(model)
            guard problems.isEmpty else { throw Timeout(description: problems.joined(separator: "; ")) }
        }
    }

    private func settle(
        _ participants: [Participant], _ what: String = "everything is answered", within limit: Duration = .seconds(5)
    ) async throws {
        try await eventually(what, within: limit, every: .milliseconds(2)) {
            try await look()
            return participants.allSatisfy(\.isSettled)
        }
    }

    private func differencesSeen(by participant: Participant) -> [String] {
        guard participant.isConnected else { return [] }
        var differences: [String] = []
        var watched = participant.watched
        for (conversation, withPresence) in participant.joined {
            if withPresence { watched.formUnion(model.members[conversation] ?? []) }
            let typists = model.typists[conversation]?.last.subtracting([participant.name.user]) ?? []
            let seen = participant.typings[conversation]
            let named = Set(seen?.users.map(\.user) ?? [])
            if seen?.count != typists.count || named.count != min(2, typists.count) || !named.isSubset(of: typists) {
                differences.append(
                    "\(participant.name) sees \(String(describing: seen)), where \(typists) type in \(conversation)")
            }
        }
        for user in watched where participant.presences[user]?.status != model.statuses[user]?.last {
            differences.append(
                "\(participant.name) sees \(user) as \(String(describing: participant.presences[user])), who is "
                    + "\(String(describing: model.statuses[user]?.last))")
        }
        return differences
    }

    private func differencesInRedis() async throws -> [String] {
        let picture = try await RedisPicture.taken(of: people, conversations, in: deployment.redis)
        try await look()
        var differences: [String] = []
        func compare<Value: Equatable>(_ what: String, _ found: Value, _ wanted: Value) {
            if found != wanted { differences.append("in Redis \(what) is \(found), not \(wanted)") }
        }
        for conversation in conversations {
            let typing = Set(model.typingDevices(in: conversation).map(\.description))
            for names in [picture.sets, picture.strings] {
                compare(
                    "typing in \(conversation)",
                    Set((names[conversation.text] ?? "").split(separator: ",").map(String.init)), typing)
            }
        }
        for user in people {
            compare("\(user)", picture.status(of: user), model.statuses[user]?.last.rawValue ?? "")
            let devices = participants.map(\.name).filter { $0.user == user }
            let states = devices.compactMap { name in model.state(of: name).map { (name.device.text, $0.rawValue) } }
            compare("\(user)'s devices", picture.devices(of: user), Dictionary(uniqueKeysWithValues: states))
            guard model.statuses[user]?.last == .offline else { continue }
            differences += lastSeenDifferences(of: user, in: picture)
        }
        return differences
    }

    /// Checks that all observers show the last-seen time in Redis, and that it is when the user was last connected. It
    /// may differ by the grace period, within which a device may have returned only to go into the background.
    private func lastSeenDifferences(of user: UserID, in picture: RedisPicture) -> [String] {
        let stored = picture.lastSeen(of: user)
        var differences = participants.filter { $0.isConnected && $0.watched.contains(user) }.compactMap {
            $0.presences[user]?.lastSeen == stored
                ? nil : "\($0.name) sees \(user) last \(String(describing: $0.presences[user]?.lastSeen))"
        }
        let there = model.lastThere[user].map { $0.timeIntervalSince1970 * 1000 }
        if (there == nil) != (stored == nil) || abs((there ?? 0) - Double(stored?.milliseconds ?? 0)) > 2500 {
            differences.append("\(user) was last seen \(String(describing: stored)), not \(String(describing: there))")
        }
        return differences
    }

    // MARK: Randomness

    private func chance(of percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private func any<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int.random(in: 0..<choices.count, using: &random)]
    }
    private func anyState() -> DeviceState { any([.active, .active, .active, .idle, .background]) }

    private func note(_ what: String) { log.append("\(ContinuousClock.now - started) \(what)") }
}
