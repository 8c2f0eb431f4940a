// What a scenario plays on: it says what devices do and when, and learns what happened. What that means for a connection
// is the course's affair.

/// What the driver of a course is to do.
package enum Act: Equatable, Sendable {
    /// - Parameter address: counted over the addresses that the course knows.
    case connect(Int, address: Int)
    case say(Int, [UInt8])
    /// End the connection without a word.
    case drop(Int)
}

/// The devices of a process, what they are to do, and what came of it.
package struct Stage {
    let plan: Plan
    /// The moment of what is happening.
    var now: Moment
    var agenda = Agenda()
    var chance: Chance
    var tally = Tally()
    var acts: [Act] = []
    var seats: [Seat]
    /// How often typing need be renewed, as workers say.
    var throttle = Duration.seconds(1)
    /// Whether what happens counts.
    var isMeasured = false

    init(_ plan: Plan, addresses: Int, at now: Moment) {
        (self.plan, self.now) = (plan, now)
        chance = Chance(seed: plan.seed &+ UInt64(plan.numbers.lowerBound))
        seats = plan.numbers.map { Seat(at: now, comeback: Comeback(to: addresses, from: $0 % addresses)) }
    }

    /// A device's number, counted over all processes.
    func number(of device: Int) -> Int { plan.numbers.lowerBound + device }

    /// Whether a device is there and has been told what it asked for.
    func isSettled(_ device: Int) -> Bool { seats[device].state == .settled }

    /// What a device is to do in this life of its.
    mutating func note(_ step: Cue.Step, _ device: Int, at due: Moment) {
        agenda.note(Cue(step, device, life: seats[device].life), at: due)
    }

    /// What is due whatever becomes of any device.
    mutating func schedule(_ step: Cue.Step, _ number: Int, at due: Moment) {
        agenda.note(Cue(step, number), at: due)
    }

    /// A device says something that was due.
    mutating func say(_ frame: [UInt8], from device: Int, due: Moment) {
        acts.append(.say(device, frame))
        tally.sent += 1
        tally.late.record(due.duration(to: now))
    }

    /// A device is to come.
    mutating func come(_ device: Int, at due: Moment) {
        (seats[device].state, seats[device].due, seats[device].lost) = (.waiting, due, nil)
        note(.connect, device, at: due)
    }

    /// A device that is about to say goodbye: the end of its connection is meant, and it comes again.
    mutating func expectEnd(of device: Int, returning due: Moment) { seats[device].returning = due }
}

/// A device's connection.
struct Seat {
    enum State: UInt8 {
        /// Not here, and not expected.
        case absent
        /// Its next attempt is on the agenda.
        case waiting
        case connecting
        /// Was welcomed.
        case welcome
        /// Has been told all that it asked for at first.
        case settled
        /// Not to come back.
        case expelled

        var isThere: Bool { self == .welcome || self == .settled }
        var isConnected: Bool { self == .connecting || isThere }
    }

    var state = State.absent
    /// Grows with each end of a connection; see ``Cue/life``.
    var life: UInt32 = 0
    /// When it was to come, whatever became of its attempts.
    var due: Moment
    /// When it was welcomed.
    var since: Moment
    /// When its connection was lost, while it is not back.
    var lost: Moment?
    /// How many acknowledgements it has still to get.
    var outstanding = 0
    /// When it comes again, once it has said goodbye.
    var returning: Moment?
    /// What the worker said before the end.
    var goodbye: Goodbye?
    var comeback: Comeback

    struct Goodbye {
        var reason: String
        /// How long to wait, and which address to go to.
        var asked: Duration?
        var invitation: Int?
    }

    /// Whether it is about to come, rather than to come back.
    var wasNeverLost: Bool { lost == nil }

    init(at now: Moment, comeback: Comeback) {
        (due, since) = (now, now)
        self.comeback = comeback
    }
}
