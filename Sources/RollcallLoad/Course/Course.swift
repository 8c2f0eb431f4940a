// A load as a value: it receives what happens and when, and returns what to do. It neither waits nor reads a clock, so
// a test plays hours in a moment.

internal import RollcallClient
internal import RollcallModel

/// What one process's devices do.
package struct Course {
    var stage: Stage
    var scenario: any Scenario
    private var reader = PictureReader()
    /// Each device's token; `nil` if the workers accept names.
    private let tokens: [String]?
    /// The addresses of workers: those that were given, then those that workers named.
    package private(set) var addresses: [String]
    let given: Int
    /// The number of devices that are connected and have received everything that they requested at first.
    package internal(set) var settled = 0
    /// Why the load cannot continue.
    package internal(set) var failure: LoadError?
    private var knowsThrottle = false
    /// How many devices have been called while gathering.
    private var called = 0

    /// How many devices gather at a time: as many as a worker accepts without overflowing a queue, since gathering is
    /// not measured.
    private static let mostCalled = 200
    /// Workers name each other's addresses. Beyond this number, further addresses are ignored.
    private static let mostAddresses = 256

    /// - Parameters:
    ///   - addresses: the workers' URLs, at least one.
    ///   - tokens: each device's token; `nil` if the workers accept names.
    package init(_ plan: Plan, addresses: [String], tokens: [String]? = nil, at now: Moment) {
        precondition(!addresses.isEmpty, "a course wants somewhere to go")
        stage = Stage(plan, addresses: addresses.count, at: now)
        scenario = plan.scenario.scenario(plan)
        (self.addresses, given, self.tokens) = (addresses, addresses.count, tokens)
    }

    package var tally: Tally { stage.tally }
    package var isGathered: Bool { !scenario.gathers || settled == stage.plan.count }
    package var nextDue: Moment? { stage.agenda.next }

    /// Starts to connect the devices that must be there from the beginning.
    package mutating func gather(at now: Moment) {
        stage.now = now
        if scenario.gathers { call() }
    }

    private mutating func call() {
        while called < min(stage.plan.count, settled + Self.mostCalled) {
            stage.come(called, at: stage.now)
            called += 1
        }
    }

    /// Starts the measurement. Earlier figures are dropped.
    package mutating func begin(at now: Moment) {
        stage.now = now
        let present = stage.tally.present
        (stage.tally, stage.isMeasured) = (Tally(), true)
        stage.tally.present = present
        scenario.began(&stage)
    }

    /// Ends the load: nothing more is scheduled, but messages in flight are still counted.
    package mutating func end() {
        stage.agenda = Agenda()
    }

    /// Does everything that is due by now.
    package mutating func advance(to now: Moment) {
        stage.now = now
        while let (due, cue) = stage.agenda.take(by: now) { perform(cue, due) }
    }

    /// Passes the acts to perform, in order, to a list whose memory is reused.
    package mutating func exchange(_ acts: inout [Act]) {
        acts.removeAll(keepingCapacity: true)
        swap(&acts, &stage.acts)
    }

    private mutating func perform(_ cue: Cue, _ due: Moment) {
        if let life = cue.life, life != stage.seats[cue.device].life { return }
        switch cue.step {
        case .connect: connect(cue.device, due)
        case .giveUp: giveUp(cue.device)
        case .cut: cut(cue.device, due)
        case .start, .renew, .stop, .lookAway, .lookBack, .leave: scenario.act(cue, due: due, &stage)
        }
    }

    /// The device's hello. It is acknowledged once the device's presence is published.
    func hello(of device: Int) -> [UInt8] {
        let token = tokens?[device] ?? stage.plan.user(device)
        let hello = ClientMessage.Hello(token: token, device: "load")
        return DeviceFrame.message(.hello(hello), id: .integer(1))
    }
}

// Messages from workers.
extension Course {
    /// Handles a message to a device.
    package mutating func heard(_ device: Int, _ text: UnsafeRawBufferPointer, at now: Moment) {
        // Acts that were due earlier are performed first, so that their effects are not seen before them.
        if let due = stage.agenda.next, due <= now { advance(to: now) }
        stage.now = now
        stage.tally.received += 1
        stage.tally.bytes += text.count
        switch Told(text) {
        case .acknowledged(let number): acknowledged(device, number)
        case .welcome: welcomed(device, text)
        case .conversation:
            if !reader.knows(text) { reader.keep(text, showing: picture(in: text)) }
            if let picture = reader.picture { scenario.heard(device, picture, &stage) }
        case .goodbye: goodbye(device, text)
        case .error:
            guard case .error(let error)? = Told.whole(text) else { return }
            stage.tally.errors[error.code.rawValue, default: 0] += 1
        case .other: break
        }
    }

    private func picture(in text: UnsafeRawBufferPointer) -> TypingPicture? {
        guard case .typing(let typing)? = Told.whole(text) else { return nil }
        return scenario.picture(of: typing, stage.plan)
    }

    private mutating func welcomed(_ device: Int, _ text: UnsafeRawBufferPointer) {
        guard stage.seats[device].state == .connecting else { return }
        if !knowsThrottle, case .welcome(let welcome)? = Told.whole(text) {
            (stage.throttle, knowsThrottle) = (.milliseconds(welcome.typing.throttle), true)
        }
        stage.welcomed(device)
    }

    private mutating func acknowledged(_ device: Int, _ number: Int) {
        guard stage.seats[device].state == .welcome else { return }
        if number == 1, stage.seats[device].wasNeverLost {
            stage.tally.online.record(stage.seats[device].due.duration(to: stage.now))
        }
        stage.seats[device].outstanding -= 1
        guard stage.seats[device].outstanding == 0 else { return }
        stage.seats[device].state = .settled
        settled += 1
        scenario.settled(device, &stage)
        if !stage.isMeasured { call() }
    }

    private mutating func goodbye(_ device: Int, _ text: UnsafeRawBufferPointer) {
        guard case .goodbye(let goodbye)? = Told.whole(text) else { return }
        stage.seats[device].goodbye = Seat.Goodbye(
            reason: goodbye.reason.rawValue, asked: goodbye.after.map { .milliseconds($0) },
            invitation: goodbye.to.flatMap { number(of: $0) })
    }

    private mutating func number(of address: String) -> Int? {
        if let known = addresses.firstIndex(of: address) { return known }
        guard addresses.count < Self.mostAddresses, (try? Crowd.Address(url: address)) != nil else { return nil }
        addresses.append(address)
        return addresses.count - 1
    }
}
