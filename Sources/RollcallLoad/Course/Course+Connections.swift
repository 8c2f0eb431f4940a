// How connections begin and end. A device whose connection ends without its intent reconnects, as `RollcallClient`
// does.

internal import RollcallModel

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Course {
    mutating func connect(_ device: Int, _ due: Moment) {
        let (entrance, acknowledgements) = scenario.entrance(of: device, stage.plan)
        stage.seats[device].state = .connecting
        stage.seats[device].outstanding = 1 + acknowledgements
        stage.tally.attempts += 1
        stage.tally.late.record(due.duration(to: stage.now))
        stage.acts.append(.connect(device, address: stage.seats[device].comeback.address))
        stage.acts.append(.say(device, hello(of: device) + entrance))
        stage.note(.giveUp, device, at: stage.now + stage.seats[device].comeback.patience)
    }

    /// Ends an attempt without a welcome when its time limit has passed.
    mutating func giveUp(_ device: Int) {
        guard stage.seats[device].state == .connecting else { return }
        stage.acts.append(.drop(device))
        notReached(device, .lost(ETIMEDOUT))
    }

    mutating func cut(_ device: Int, _ due: Moment) {
        guard stage.seats[device].state.isThere else { return }
        stage.acts.append(.drop(device))
        stage.now = due
        lost(device, nil)
    }

    /// Handles the end of a device's connection, or of an attempt.
    package mutating func closed(_ device: Int, _ ending: Crowd.Ending, at now: Moment) {
        stage.now = now
        let seat = stage.seats[device]
        guard seat.state.isConnected else { return }
        if let returning = seat.returning {
            stage.seats[device].returning = nil
            leave(device)
            return stage.come(device, at: max(returning, now))
        }
        guard case .code(let code) = ending else {
            return seat.state == .connecting ? notReached(device, ending) : lost(device, nil)
        }
        if CloseCode(rawValue: code).mayReconnect { lost(device, code) } else { expelled(device, code) }
    }

    private mutating func notReached(_ device: Int, _ ending: Crowd.Ending) {
        let address = addresses[stage.seats[device].comeback.address]
        stage.tally.failures += 1
        if stage.tally.welcomes == 0, settled == 0, stage.tally.failures >= given {
            failure = failure ?? LoadError(nobodyAt: address, ending)
        }
        let pause = stage.seats[device].comeback.notReached(using: &stage.chance)
        leave(device)
        comeBack(device, after: pause)
    }

    /// - Parameter code: `nil` for an end without a close frame.
    private mutating func lost(_ device: Int, _ code: UInt16?) {
        let seat = stage.seats[device]
        if let word = seat.goodbye?.reason ?? code.map({ "\($0)" }) { stage.tally.goodbyes[word, default: 0] += 1 }
        if seat.state.isThere { stage.lost(device) } else { stage.tally.failures += 1 }
        let pause = stage.seats[device].comeback.ended(
            held: seat.state.isThere ? seat.since.duration(to: stage.now) : .zero, asked: seat.goodbye?.asked,
            to: seat.goodbye?.invitation, using: &stage.chance)
        leave(device)
        comeBack(device, after: pause)
    }

    private mutating func expelled(_ device: Int, _ code: UInt16) {
        if !stage.isMeasured || settled == 0 { failure = failure ?? LoadError(expelledWith: code) }
        stage.tally.goodbyes["\(code)", default: 0] += 1
        stage.tally.expelled += 1
        leave(device)
        stage.seats[device].state = .expelled
    }

    private mutating func comeBack(_ device: Int, after pause: Duration) {
        stage.seats[device].state = .waiting
        stage.note(.connect, device, at: stage.now + pause)
    }

    /// Ends this life of the device, so that what was scheduled for it is ignored.
    private mutating func leave(_ device: Int) {
        let state = stage.seats[device].state
        if state.isThere { stage.tally.present -= 1 }
        if state == .settled {
            settled -= 1
            scenario.ended(device, &stage)
        }
        (stage.seats[device].state, stage.seats[device].goodbye) = (.absent, nil)
        stage.seats[device].life &+= 1
    }
}

extension Stage {
    mutating func welcomed(_ device: Int) {
        (seats[device].state, seats[device].since) = (.welcome, now)
        seats[device].comeback.welcomed()
        tally.present += 1
        tally.welcomes += 1
        if let lost = seats[device].lost {
            tally.away.record(lost.duration(to: now))
            tally.lastReturn = now
        } else {
            tally.welcome.record(seats[device].due.duration(to: now))
        }
    }

    mutating func lost(_ device: Int) {
        tally.losses += 1
        tally.firstLoss = tally.firstLoss ?? now
        seats[device].lost = now
    }
}

extension LoadError {
    /// - Returns: `nil` if the cause may be temporary: an overloaded worker ends connections without a close frame.
    init?(nobodyAt address: String, _ ending: Crowd.Ending) {
        let reason: String
        switch ending {
        case .unreachable(0), .lost, .code, .refused(503): return nil
        case .unreachable(let number): reason = "no worker answers at \(address): \(String(cString: strerror(number)))"
        case .refused(0): reason = "what answers at \(address) is no worker"
        case .refused(let status): reason = "\(address) opens no WebSocket: it answers with status \(status) of HTTP"
        }
        self.init("\(reason)\nName a worker with --url: its ready line says where it listens (edge=…).")
    }

    init(expelledWith code: UInt16) {
        switch CloseCode(rawValue: code) {
        case .badToken:
            self.init(
                """
                the workers do not take such a token (4100)
                Sign tokens as they check them: --secret-file FILE with the file of their auth.secret_file, and --set \
                auth.issuer=… and auth.audience=… where they have these.
                """)
        case .tooManySessions: self.init("a user has too many sessions (4105): is another load running? See --name.")
        case .replaced: self.init("other devices have the same names (4104): is another load running? See --name.")
        default: self.init("the workers closed connections with code \(code), which says to put something right first")
        }
    }
}
