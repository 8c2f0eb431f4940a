// Runs a course with real sockets and the real clock, on one thread.

/// Plays a course on the thread of its caller.
package final class Player {
    private var crowd: Crowd
    private var course: Course
    private var acts: [Act] = []
    private var addresses: [Crowd.Address] = []
    private let plan: Plan

    /// How many devices use one loopback address. Each address has about 28,000 ports to one worker.
    private static let devicesOfSource = 16_384

    /// - Parameter tokens: each device's token; `nil` if the workers accept names.
    package init(_ plan: Plan, addresses: [String], tokens: [String]? = nil) throws(LoadError) {
        self.plan = plan
        crowd = try Crowd()
        course = Course(plan, addresses: addresses, tokens: tokens, at: .now)
        for address in addresses { self.addresses.append(try Crowd.Address(url: address)) }
    }

    package var tally: Tally { course.tally }
    package var settled: Int { course.settled }
    package var isGathered: Bool { course.isGathered }

    package func gather() { course.gather(at: .now) }
    package func begin(at moment: Moment) { course.begin(at: moment) }
    package func end() { course.end() }

    /// Does what is due, waits until something happens or becomes due, at most for `patience`, and handles it.
    ///
    /// - Throws: if the load cannot continue.
    package func turn(for patience: Duration) throws(LoadError) {
        course.advance(to: .now)
        try act()
        let due = course.nextDue.map { Moment.now.duration(to: $0) } ?? patience
        crowd.turn(for: max(.zero, min(patience, due))) { _, device, event in
            switch event {
            case .opened: break
            case .text(let text): course.heard(device, text, at: .now)
            case .closed(let ending): course.closed(device, ending, at: .now)
            }
        }
        try act()
        if let failure = course.failure { throw failure }
    }

    private func act() throws(LoadError) {
        course.exchange(&acts)
        for act in acts {
            switch act {
            case .connect(let device, let address): try connect(device, to: address)
            case .say(let device, let frame): crowd.send(frame, from: device)
            case .drop(let device): crowd.drop(device)
            }
        }
    }

    /// Connects a device. Devices connect for the first time in the order of their numbers.
    private func connect(_ device: Int, to number: Int) throws(LoadError) {
        while addresses.count <= number { addresses.append(try Crowd.Address(url: course.addresses[addresses.count])) }
        let address = addresses[number]
        let block = (plan.numbers.lowerBound + device) / Self.devicesOfSource
        let source = address.isLoopback ? UInt8(block % 250) : 0
        if device < crowd.count {
            try crowd.reconnect(device, to: address, source: source)
        } else {
            let seat = try crowd.connect(to: address, source: source)
            precondition(seat == device, "devices come in order")
        }
    }
}
