// What a scenario acts on: it says what devices do and when, and learns what happened. The course derives from that
// what to do with connections.

/// What the driver of a course must do.
package enum Act: Equatable, Sendable {
    /// - Parameter address: an index into the course's addresses.
    case connect(Int, address: Int)
    case say(Int, [UInt8])
    /// End the connection without a close frame.
    case drop(Int)
}

/// The devices of a process, what they are to do, and what happened to them.
package struct Stage {
    let plan: Plan
    /// The moment of the current event.
    var now: Moment
    var agenda = Agenda()
    var chance: Chance
    var tally = Tally()
    var acts: [Act] = []
    var seats: [Seat]
    /// How often typing must be renewed, as stated by the workers.
    var throttle = Duration.seconds(1)
    /// Whether events are counted.
    var isMeasured = false

    init(_ plan: Plan, addresses: Int, at now: Moment) {
        (self.plan, self.now) = (plan, now)
        chance = Chance(seed: plan.seed &+ UInt64(plan.numbers.lowerBound))
        seats = plan.numbers.map { Seat(at: now, comeback: Comeback(to: addresses, from: $0 % addresses)) }
    }

    /// Returns a device's number over all processes.
    func number(of device: Int) -> Int { plan.numbers.lowerBound + device }

    /// Whether a device is connected and has received everything that it requested at first.
    func isSettled(_ device: Int) -> Bool { seats[device].state == .settled }

    /// Schedules what a device is to do during its current connection.
    mutating func note(_ step: Cue.Step, _ device: Int, at due: Moment) {
        agenda.note(Cue(step, device, life: seats[device].life), at: due)
    }

    /// Schedules what happens independent of a device's connection.
    mutating func schedule(_ step: Cue.Step, _ number: Int, at due: Moment) {
        agenda.note(Cue(step, number), at: due)
    }

    /// Sends a frame that was due, and records the delay.
    mutating func say(_ frame: [UInt8], from device: Int, due: Moment) {
        acts.append(.say(device, frame))
        tally.sent += 1
        tally.late.record(due.duration(to: now))
    }

    /// Schedules a device's first connection, or the next after it left.
    mutating func come(_ device: Int, at due: Moment) {
        (seats[device].state, seats[device].due, seats[device].lost) = (.waiting, due, nil)
        note(.connect, device, at: due)
    }

    /// Notes that a device is about to say goodbye: its connection then ends by intent, and the device returns later.
    mutating func expectEnd(of device: Int, returning due: Moment) { seats[device].returning = due }
}

/// A device's connection.
struct Seat {
    enum State: UInt8 {
        /// Not connected, and not expected to connect.
        case absent
        /// Its next attempt is scheduled.
        case waiting
        case connecting
        /// Was welcomed.
        case welcome
        /// Has received everything that it requested at first.
        case settled
        /// Must not reconnect.
        case expelled

        var isThere: Bool { self == .welcome || self == .settled }
        var isConnected: Bool { self == .connecting || isThere }
    }

    var state = State.absent
    /// Grows with each end of a connection; see ``Cue/life``.
    var life: UInt32 = 0
    /// When the device was to connect, independent of failed attempts.
    var due: Moment
    /// When it was welcomed.
    var since: Moment
    /// When its connection was lost; `nil` once it is back.
    var lost: Moment?
    /// The number of acknowledgements that are still expected.
    var outstanding = 0
    /// When the device returns, after it said goodbye.
    var returning: Moment?
    /// What the worker announced before it closed.
    var goodbye: Goodbye?
    var comeback: Comeback

    struct Goodbye {
        var reason: String
        /// How long to wait, and the index of the address to use.
        var asked: Duration?
        var invitation: Int?
    }

    /// Whether this is a first connection and not a reconnect.
    var wasNeverLost: Bool { lost == nil }

    init(at now: Moment, comeback: Comeback) {
        (due, since) = (now, now)
        self.comeback = comeback
    }
}
