// What an app's servers know from the events, while workers, Redis, readers and receivers fail.

internal import Foundation
internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let eventFaults = [delivererKilled, emptied, failedOver, restartedInTurn, badReceivers, trimmed]

    private static func events(
        _ name: String, on grounds: Set<TestRedis.Kind> = [.server, .sentinel],
        body: @escaping @Sendable (Stage, Readers) async throws -> Void
    ) -> Fault {
        Fault(.mixed, "events: \(name)", on: grounds, equipment: Stage.Equipment(keepsEvents: true)) { stage in
            guard let readers = stage.eventReaders else {
                preconditionFailure("the stage has what it was equipped with")
            }
            try await body(stage, readers)
            await stage.agree(readers)
        }
    }

    typealias Readers = Stage.EventReaders

    private static let delivererKilled = events("a worker and the one that delivers killed (-9)") { stage, readers in
        let cast = try await stage.cast()
        await stage.agree(readers)
        let deliverer = try await stage.redis.cli("HGET", "events:state", "deliverer")
        let hosts = Set([0, deliverer.dropFirst().first?.wholeNumberValue ?? 0])
        let began = Moment.now
        stage.steady(cast.steady)
        stage.gone(hosts.sorted())
        var died = Moment.now
        for host in hosts.sorted() { died = try await stage.hosts[host].kill() }
        stage.typingExpires(cast.typist.user, signalled: cast.signalled)
        stage.dead(cast.lost, since: died)
        stage.look(until: died + stage.settings.lease + .seconds(2))
        try await Task.sleep(until: died + stage.settings.lease + .seconds(2))
        stage.stayed(cast.steady, readers, since: began)
    }

    private static let emptied = events("Redis killed (-9), back empty after 5 s", on: [.server]) { stage, readers in
        try await stage.outage(Outage(losesData: true)) {
            try await stage.killRedis()
        } end: {
            try await Task.sleep(for: .seconds(5))
            try await stage.startRedis()
        }
    }

    private static let failedOver = events("SENTINEL FAILOVER", on: [.sentinel]) { stage, readers in
        try await stage.outage(.failover(stage.settings)) {
            try await stage.redis.whole.sentinels?.failOver()
        } end: { _ in
        }
    }

    private static let restartedInTurn = events("rolling restart of all") { stage, readers in
        let cast = try await stage.cast()
        for device in [cast.leaver, cast.typist] { try await device.behave(.returns) }
        await stage.agree(readers)
        let (began, before) = (Moment.now, try await stage.redis.cli("XLEN", "events"))
        stage.steady(cast.steady)
        for host in stage.hosts {
            _ = try await stage.terminate(host.number)
            try await host.start()
        }
        try await stage.haveReturned(cast.bystanders + [cast.leaver, cast.typist])
        try await Task.sleep(for: stage.settings.grace + .seconds(2))
        stage.typingExpires(cast.typist.user, signalled: began)
        let after = try await stage.redis.cli("XLEN", "events")
        // Of the user with two devices, the phone does not return.
        stage.found(.other, broken: before == after ? nil : "\(before) events became \(after)")
        stage.stayed(cast.steady + cast.lost, readers, since: began)
    }

    private static let badReceivers = events("the webhook's server down, slow, answering 500, dying halfway") {
        stage, readers in
        // The first delivery begins with a reset.
        let first = try await stage.person("first")
        try await first.come(to: 0)
        try await stage.see([.status(first.user, .online)])
        await stage.agree(readers)
        var people: [(user: UserID, changes: [Bool])] = []
        let began = Moment.now
        for (number, manner) in [WebhookServer.Manner.down, .slow, .refuses, .diesHalfway].enumerated() {
            readers.server.become(manner)
            let comer = try await stage.person("comer\(number)")
            let goer = try await stage.person("goer\(number)", manner: .staysAway)
            try await goer.come(to: number % 3)
            try await comer.come(to: (number + 1) % 3)
            try await goer.goodbye()
            try await stage.see([.status(comer.user, .online), .status(goer.user, .offline)])
            people += [(comer.user, [true]), (goer.user, [true, false])]
            try await Task.sleep(for: .seconds(2))
            let isTold = readers.delivered.people[comer.user] != nil && manner != .diesHalfway
            stage.found(.other, broken: isTold ? "a server that is \(manner) was told" : nil)
            readers.server.become(.works)
            await stage.agree(readers)
        }
        let told = readers.delivered.changes(since: began)
        for (user, changes) in people {
            let heard = told.filter { $0.user == user }.map(\.isThere)
            stage.found(.other, broken: heard == changes ? nil : "\(user) was there: \(heard)")
        }
    }

    /// Both readers stop, people come and go, and what they have not read is trimmed.
    private static let trimmed = events("the stream trimmed behind its readers") { stage, readers in
        let goer = try await stage.person("goer", manner: .staysAway)
        try await goer.come(to: 0)
        try await stage.see([.status(goer.user, .online)])
        await stage.agree(readers)
        let resets = readers.all.map(\.resets)
        readers.followed.sleep(true)
        readers.server.become(.refuses)
        // The last request waits for a second.
        try await Task.sleep(for: .seconds(1.5))
        try await goer.goodbye()
        let comers = [try await stage.person("comer"), try await stage.person("\(Cast.bystander)0")]
        for comer in comers { try await comer.come(to: 1) }
        try await stage.see(
            comers.map { .status($0.user, .online) } + [.status(goer.user, .offline)])
        try await stage.redis.cli("XTRIM", "events", "MAXLEN", "1")
        // Only a worker that has no delivery in memory finds out.
        let deliverer = try await stage.redis.cli("HGET", "events:state", "deliverer")
        let host = deliverer.dropFirst().first?.wholeNumberValue ?? 0
        _ = try await stage.terminate(host)
        try await stage.hosts[host].start()
        readers.followed.sleep(false)
        readers.server.become(.works)
        await stage.agree(readers)
        for (reader, before) in zip(readers.all, resets) {
            stage.found(.other, broken: reader.resets > before ? nil : "\(reader.name) heard no reset")
        }
    }
}

extension Stage {
    /// The readers of the events.
    struct EventReaders: Sendable {
        let followed: Ledger
        let server: WebhookServer
        let secret: URL

        var delivered: Ledger { server.ledger }
        var all: [Ledger] { [followed, delivered] }

        init(hosts: NIOLockedValueBox<[Host]>, _ state: NIOLockedValueBox<State>) async throws {
            let users: @Sendable () -> [UserID] = { state.withLockedValue { $0.users } }
            followed = Ledger("who follows the events", hosts: hosts, users: users)
            server = try await WebhookServer(Ledger("the webhook's server", hosts: hosts, users: users))
            secret = FileManager.default.temporaryDirectory.appending(path: "rollcall-webhook-\(server.port)")
            try Data("whsec_\(Data(repeating: 7, count: 32).base64EncodedString())".utf8).write(to: secret)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
        }

        /// What the workers are started with.
        var configuration: [String: String] {
            [
                "events.enabled": "true", "events.webhook.url": "http://127.0.0.1:\(server.port)/",
                "events.webhook.secret_file": secret.path,
            ]
        }
    }

    /// Waits until each reader knows from the events who is there, as a worker says it.
    func agree(_ readers: EventReaders) async {
        for reader in readers.all {
            let began = Moment.now
            var difference = "no worker answers"
            do {
                try await eventually(
                    "\(reader.name) knows who is there", within: .seconds(75), every: .milliseconds(50)
                ) {
                    guard let truth = try? await reader.truth() else { return false }
                    let people = reader.people
                    let wrong = truth.filter { $1 != people[$0] ?? false }
                    difference = wrong.map { "\($0) is \($1 ? "there" : "gone")" }.sorted().joined(separator: ", ")
                    return wrong.isEmpty
                }
                figure("seconds until \(reader.name) agrees, at most", (Moment.now - began).inSeconds)
            } catch {
                found(.other, broken: "\(reader.name) does not know: \(difference)")
            }
        }
    }

    /// No reader was told that one of these users went.
    func stayed(_ users: [UserID], _ readers: EventReaders, since moment: Moment) {
        for reader in readers.all {
            let gone = reader.changes(since: moment).filter { users.contains($0.user) }
            found(.other, broken: gone.isEmpty ? nil : "\(reader.name) was told of \(gone.map(\.user))")
        }
    }
}
