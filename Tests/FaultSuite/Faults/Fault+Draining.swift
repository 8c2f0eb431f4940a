// Workers that leave in good order, with many devices on them.

internal import Foundation
internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let drainingFaults = [terminated, rollingRestart]

    private static let crowded = Stage.Equipment(hasDoors: false)

    private static let terminated = Fault(.worker, "SIGTERM with 1,000 devices", isHeavy: true, equipment: crowded) {
        stage in
        let crowd = try await stage.crowd(1000) { _ in 0 }
        let (typist, _) = try await stage.typistAndFriend()
        try await typist.behave(.returns)
        stage.steady(crowd.map(\.user) + [typist.user])
        let told = try await stage.terminate(0)
        try await stage.haveReturned(crowd + [typist])
        // It typed when it was sent away.
        stage.expect(
            .typesNot(typist.user, in: stage.room), .typing, since: told,
            within: stage.settings.expiry + Promise.way)
        stage.burst(of: crowd, since: told)
        stage.look(until: .now + stage.settings.grace + .seconds(2))
    }

    private static let rollingRestart = Fault(
        .worker, "rolling restart of all, with 1,000 devices", isHeavy: true, equipment: crowded
    ) { stage in
        let crowd = try await stage.crowd(1000) { $0 % 3 }
        var typists: [Roamer] = []
        for host in stage.hosts {
            let typist = try await stage.person("typist\(host.number)")
            try await typist.come(to: host.number)
            typists.append(typist)
            _ = try await stage.type(typist)
        }
        stage.steady((crowd + typists).map(\.user))
        let start = Moment.now
        for host in stage.hosts {
            _ = try await stage.terminate(host.number)
            try await host.start()
        }
        try await stage.haveReturned(crowd + typists)
        let restarted = Moment.now
        for typist in typists {
            stage.expect(.typesNot(typist.user, in: stage.room), .typing, since: restarted, within: .seconds(1))
        }
        stage.burst(of: crowd, since: start)
        stage.look(until: restarted + stage.settings.grace + .seconds(2))
    }
}

extension Stage {
    /// Many people, each with a device on the host that is given for its number.
    func crowd(_ count: Int, on host: (Int) -> Int) async throws -> [Roamer] {
        var crowd: [Roamer] = []
        for number in 0..<count { crowd.append(try await extra("one\(number)")) }
        try await watch(crowd.map(\.user))
        let places = crowd.enumerated().map { (device: $1, host: host($0)) }
        for start in stride(from: 0, to: count, by: 50) {
            try await withThrowingDiscardingTaskGroup { group in
                for place in places[start..<min(start + 50, count)] {
                    group.addTask { try await place.device.come(to: place.host) }
                }
            }
        }
        try await see(crowd.map { .status($0.user, .online) })
        return crowd
    }

    /// Tells a worker to stop, and waits until it has.
    ///
    /// - Returns: when it was told.
    func terminate(_ host: Int) async throws -> Moment {
        gone([host])
        let told = hosts[host].signal(SIGTERM)
        let code = try await hosts[host].worker.process.exitCode()
        found(.other, broken: code == 0 ? nil : "host \(host)'s worker ended with \(code)")
        return told
    }

    func haveReturned(_ devices: [Roamer]) async throws {
        try await eventually("all are connected again", every: .milliseconds(100)) {
            for device in devices where try await device.whereabouts() == nil { return false }
            return true
        }
    }

    /// The largest number of devices that tried to connect in any tenth of a second.
    func burst(of devices: [Roamer], since start: Moment) {
        let tries = devices.flatMap(\.notes).compactMap { note in
            if case .tried = note.event, note.at >= start { note.at } else { nil }
        }.sorted()
        var (largest, first) = (0, 0)
        for last in tries.indices {
            while tries[last] - tries[first] > .milliseconds(100) { first += 1 }
            largest = max(largest, last - first + 1)
        }
        figure("reconnects in 100 ms at most", Double(largest))
        let isBurst = largest > devices.count / 10
        found(.other, broken: isBurst ? "\(largest) devices reconnected within 100 ms" : nil)
    }
}
