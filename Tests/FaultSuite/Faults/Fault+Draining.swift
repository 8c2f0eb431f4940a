// Workers that shut down in order, with many devices connected.

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
        let (typist, signalled) = try await stage.typistAndFriend()
        try await typist.behave(.returns)
        stage.steady(crowd.map(\.user) + [typist.user])
        let told = try await stage.terminate(0)
        stage.typingExpires(typist.user, signalled: signalled)
        try await stage.haveReturned(crowd + [typist])
        stage.burst(of: crowd, since: told)
        stage.look(until: .now + stage.settings.grace + .seconds(2))
    }

    private static let rollingRestart = Fault(
        .worker, "rolling restart of all, with 1,000 devices", isHeavy: true, equipment: crowded
    ) { stage in
        let crowd = try await stage.crowd(1000) { $0 % 3 }
        let friend = try await stage.person("\(Cast.bystander)0")
        var typists: [Roamer] = []
        for host in stage.hosts { typists.append(try await stage.person("typist\(host.number)")) }
        for (number, person) in ([friend] + typists).enumerated() {
            try await person.come(to: number % stage.hosts.count)
        }
        try await stage.see(([friend] + typists).map { .status($0.user, .online) })
        stage.steady((crowd + typists + [friend]).map(\.user))
        let start = Moment.now
        let typing = Task { [typists] in
            while !Task.isCancelled {
                for typist in typists { try await typist.say(.typing(stage.room, true)) }
                try await Task.sleep(for: .seconds(1))
            }
        }
        for host in stage.hosts {
            _ = try await stage.terminate(host.number)
            try await host.start()
        }
        try await stage.haveReturned(crowd + typists + [friend])
        typing.cancel()
        _ = await typing.result
        let restarted = Moment.now
        for typist in typists { stage.typingExpires(typist.user, signalled: restarted) }
        stage.burst(of: crowd, since: start)
        stage.look(until: restarted + stage.settings.grace + .seconds(2))
    }
}

extension Stage {
    /// Connects many users whom all observers watch, each with one device, on the host that `host` returns for its
    /// number.
    func crowd(_ count: Int, on host: (Int) -> Int) async throws -> [Roamer] {
        let crowd = try await strangers(count)
        try await watch(crowd.map(\.user))
        try await arrive(crowd, on: host)
        try await see(crowd.map { .status($0.user, .online) })
        return crowd
    }

    /// Creates many users who are not watched, each with one device that is not connected yet.
    func strangers(_ count: Int) async throws -> [Roamer] {
        var crowd: [Roamer] = []
        for number in 0..<count { crowd.append(try await extra("one\(number)")) }
        return crowd
    }

    func arrive(_ crowd: [Roamer], on host: (Int) -> Int) async throws {
        let places = crowd.enumerated().map { (device: $1, host: host($0)) }
        for start in stride(from: 0, to: places.count, by: 50) {
            try await withThrowingDiscardingTaskGroup { group in
                for place in places[start..<min(start + 50, places.count)] {
                    group.addTask { try await place.device.come(to: place.host) }
                }
            }
        }
    }

    /// Sends SIGTERM to a worker, and waits until it exits.
    ///
    /// - Returns: when the signal was sent.
    func terminate(_ host: Int) async throws -> Moment {
        gone([host])
        let told = hosts[host].signal(SIGTERM)
        let code = try await hosts[host].exitCode()
        found(.other, broken: code == 0 ? nil : "host \(host)'s worker ended with \(code)")
        return told
    }

    func haveReturned(_ devices: [Roamer]) async throws {
        try await eventually("all are connected again", every: .milliseconds(100)) {
            for device in devices where try await device.whereabouts() == nil { return false }
            return true
        }
    }

    /// Records the largest number of devices that tried to connect within 100 ms.
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
