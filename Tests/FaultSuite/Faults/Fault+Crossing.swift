// Colliding sessions: of one device, and of two devices of a user.

internal import Harness
internal import RollcallClient

extension Fault {
    /// Whichever session wins, exactly one is left and shown, and the end of the other one changes nothing.
    static let twice = Fault(.device, "the same device twice at once") { stage in
        var pairs: [[Roamer]] = []
        for number in 0..<20 {
            let name = "double\(number)"
            pairs.append([try await stage.person(name), try await stage.person(name)])
        }
        stage.mayLose(pairs.map { $0[0].user })
        let coming = Moment.now
        try await withThrowingDiscardingTaskGroup { group in
            for (number, pair) in pairs.enumerated() {
                // Half of the pairs connect to one worker, the other half to two.
                group.addTask { try await pair[0].come(to: 0, until: .welcomed) }
                group.addTask { try await pair[1].come(to: number % 2, until: .welcomed) }
            }
        }
        let come = Moment.now
        for pair in pairs { stage.converge(pair[0].user, .online, after: coming) }
        for pair in pairs { stage.forbid([.offline], of: pair[0].user, .steadiness, from: come + .seconds(1)) }
        try await Task.sleep(for: Promise.convergenceLimit + .seconds(1))
        for pair in pairs { try await stage.oneIsLeft(of: pair) }
    }

    /// A user switches between two devices a thousand times.
    ///
    /// That is far more often than the hellos of a user are limited to by default.
    static let crossing = Fault(
        .device, "two devices crossing a thousand times", equipment: Stage.Equipment(sessionsPerUser: 1000)
    ) { stage in
        // The careful user's new device connects before the old one leaves; the hasty user's do both at the same time.
        let careful = try await stage.phoneAndLaptop(of: "careful")
        let hasty = try await stage.phoneAndLaptop(of: "hasty")
        for devices in [careful, hasty] { try await devices[0].come(to: 0) }
        try await stage.see([careful, hasty].map { .status($0[0].user, .online) })
        stage.steady([careful[0].user])
        for _ in 0..<10 {
            for crossing in 1...100 {
                let (next, last) = (crossing % 2, (crossing + 1) % 2)
                async let hastyComes: Void = hasty[next].come(to: next)
                async let hastyGoes: Void = hasty[last].goodbye()
                try await careful[next].come(to: next)
                try await careful[last].goodbye()
                _ = try await (hastyComes, hastyGoes)
            }
            let crossed = Moment.now
            // The last of many changes is published after `presence.coalesce`.
            let end = crossed + .milliseconds(500) + .milliseconds(300)
            stage.converge(hasty[0].user, .online, after: crossed, until: end)
            try await Task.sleep(until: end, clock: .continuous)
        }
    }
}

extension Stage {
    fileprivate func phoneAndLaptop(of name: String) async throws -> [Roamer] {
        let phone = try await person(name, "phone", manner: .staysAway)
        return [phone, try await person(name, "laptop", manner: .staysAway)]
    }

    fileprivate func oneIsLeft(of pair: [Roamer]) async throws {
        var left = 0
        for device in pair where try await device.whereabouts() != nil { left += 1 }
        let replaced = pair.flatMap(\.notes).count { note in
            if case .ended(_, .some(.replaced)) = note.event { true } else { false }
        }
        let isRight = left == 1 && replaced == 1
        found(.other, broken: isRight ? nil : "\(pair[0].user): \(left) sessions are left, \(replaced) were replaced")
    }
}
