// A load as values: told what happens and when, it says what is to be done. It waits for nothing and asks no clock, so a
// test plays hours in a moment.

internal import RollcallClient
internal import RollcallModel

/// What one process's devices do.
package struct Course {
    var stage: Stage
    var scenario: any Scenario
    private var reader = PictureReader()
    /// Each user's token; `nil` where workers take names.
    private let tokens: [String]?
    /// Where devices connect: those that were given, then those that workers named.
    package private(set) var addresses: [String]
    let given: Int
    /// How many devices are there and have been told what they asked for.
    package internal(set) var settled = 0
    /// Why it makes no sense to go on.
    package internal(set) var failure: LoadError?
    private var knowsThrottle = false
    /// How many devices have been called in the gathering.
    private var called = 0

    /// As many at a time gather as a worker lets in without a queue that overflows: that is not what is measured.
    private static let mostCalled = 200
    /// Workers name each other; more than so many are not believed.
    private static let mostAddresses = 256

    /// - Parameters:
    ///   - addresses: the workers' URLs, at least one.
    ///   - tokens: each device's; `nil` where workers take names.
    package init(_ plan: Plan, addresses: [String], tokens: [String]? = nil, at now: Moment) {
        precondition(!addresses.isEmpty, "a course wants somewhere to go")
        stage = Stage(plan, addresses: addresses.count, at: now)
        scenario = plan.scenario.scenario(plan)
        (self.addresses, given, self.tokens) = (addresses, addresses.count, tokens)
    }

    package var tally: Tally { stage.tally }
    package var isGathered: Bool { !scenario.gathers || settled == stage.plan.count }
    package var nextDue: Moment? { stage.agenda.next }

    /// Those come who are to be there from the beginning.
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

    /// From now on everything counts, and nothing that was before.
    package mutating func begin(at now: Moment) {
        stage.now = now
        let present = stage.tally.present
        (stage.tally, stage.isMeasured) = (Tally(), true)
        stage.tally.present = present
        scenario.began(&stage)
    }

    /// Nothing more is due; what is under way may still be heard of.
    package mutating func end() {
        stage.agenda = Agenda()
    }

    /// Does what is due by now.
    package mutating func advance(to now: Moment) {
        stage.now = now
        while let (due, cue) = stage.agenda.take(by: now) { perform(cue, due) }
    }

    /// Hands over what is to be done, in order, for a list whose room is used again.
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

    /// The hello of a device, acknowledged when its presence is published.
    func hello(of device: Int) -> [UInt8] {
        let token = tokens?[device] ?? stage.plan.user(device)
        let hello = ClientMessage.Hello(token: token, device: "load")
        return DeviceFrame.message(.hello(hello), id: .integer(1))
    }
}

// What workers say.
extension Course {
    /// A message has come to a device.
    package mutating func heard(_ device: Int, _ text: UnsafeRawBufferPointer, at now: Moment) {
        // What was due before is not to be heard of before it was.
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
