// One process's part in a load, from its start to its report. All parts begin to measure at the same moment, which the
// parent process chooses once all devices are connected.

/// An order to a part.
package enum Order: Sendable, Equatable {
    case begin(Moment)
    /// Stop measuring, and report what there is.
    case stop
    /// End the process. Until then its devices stay connected, since their disconnects would be work for the workers.
    case leave
}

/// What a part reports repeatedly.
package struct PartReport: Codable, Sendable {
    package enum Phase: String, Codable, Sendable {
        /// Devices are connecting.
        case gathering
        /// All devices are connected.
        case ready
        case measuring
        /// The measurement is over, and the tally is complete.
        case done
    }

    package var phase: Phase
    /// The number of devices that are connected and have received everything that they requested at first.
    package var settled: Int
    package var tally: Tally
    /// The duration of the measurement so far, and its processor time, in seconds.
    package var seconds: Double
    package var processor: Double
    /// The median and the 99th percentile of typing latency so far, in milliseconds.
    package var median: Double?
    package var slow: Double?
}

/// Plays one part of a load.
package struct Share: ~Copyable {
    private let player: Player
    private let plan: Plan
    private var phase = PartReport.Phase.gathering
    private var begun = Moment.now
    private var ended: Moment?
    private var cost = OwnCost()
    private var told = Moment.now

    /// The interval of reports, the longest time without another device connected, and the time for late messages at
    /// the end.
    private static let interval = Duration.milliseconds(500)
    private static let patience = Duration.seconds(20)
    private static let aftermath = Duration.seconds(1)

    package init(_ plan: Plan, addresses: [String], tokens: [String]? = nil) throws(LoadError) {
        self.plan = plan
        player = try Player(plan, addresses: addresses, tokens: tokens)
    }

    /// Plays the part to its end.
    ///
    /// - Parameters:
    ///   - orders: returns the next order, if there is a new one.
    ///   - tell: takes a report twice a second and at each new phase. Only the last one contains the times.
    package consuming func play(orders: () -> Order?, tell: (PartReport) -> Void) throws(LoadError) {
        try gather(orders, tell)
        while phase != .done {
            try player.turn(for: .milliseconds(20))
            if let order = orders() { heed(order) }
            if isOver { enter(.done) }
            if phase != .done, told + Self.interval <= .now { report(tell) }
        }
        tell(report(whole: true))
        while orders() != .leave { try player.turn(for: .milliseconds(20)) }
    }

    private mutating func gather(_ orders: () -> Order?, _ tell: (PartReport) -> Void) throws(LoadError) {
        var (settled, deadline) = (0, Moment.now + Self.patience)
        player.gather()
        while !player.isGathered {
            try player.turn(for: .milliseconds(20))
            if orders() != nil { return enter(.done) }
            if player.settled > settled { (settled, deadline) = (player.settled, .now + Self.patience) }
            guard Moment.now < deadline else { throw LoadError(gathered: settled, of: plan.count, player.tally) }
            if told + Self.interval <= .now { report(tell) }
        }
        enter(.ready)
        report(tell)
    }

    private mutating func heed(_ order: Order) {
        switch order {
        case .begin(let moment) where phase == .ready:
            begun = moment
            cost = OwnCost()
            player.begin(at: moment)
            enter(.measuring)
        case .begin, .leave: break
        case .stop: if phase == .measuring { finish() } else { enter(.done) }
        }
    }

    /// Stops the load and the measurement.
    private mutating func finish() {
        guard ended == nil else { return }
        ended = .now
        cost.end()
        player.end()
    }

    private var isOver: Bool {
        mutating get {
            guard phase == .measuring else { return false }
            let isComplete = plan.scenario == .storm && player.settled + player.tally.expelled == plan.count
            if isComplete || .now >= begun + plan.duration { finish() }
            return ended.map { .now >= $0 + Self.aftermath } ?? false
        }
    }

    private mutating func enter(_ phase: PartReport.Phase) { self.phase = phase }

    private mutating func report(_ tell: (PartReport) -> Void) {
        told = .now
        tell(report(whole: false))
    }

    private func report(whole: Bool) -> PartReport {
        let tally = player.tally
        let isMeasured = phase == .measuring || phase == .done
        return PartReport(
            phase: phase, settled: player.settled, tally: whole ? tally : tally.counts,
            seconds: isMeasured ? max(0, begun.duration(to: ended ?? .now) / .seconds(1)) : 0,
            processor: isMeasured ? cost.seconds : 0, median: tally.typing.milliseconds(0.5),
            slow: tally.typing.milliseconds(0.99))
    }
}

extension LoadError {
    fileprivate init(gathered settled: Int, of count: Int, _ tally: Tally) {
        let reasons = tally.goodbyes.merging(tally.errors, uniquingKeysWith: +).sorted { $0.key < $1.key }
        let said = reasons.map { "\($0.key) \($0.value) times" }.joined(separator: ", ")
        self.init(
            """
            \(settled) of \(count) devices were let in, and no more\(said.isEmpty ? "" : "; the workers said: \(said)")
            A worker takes limits.sessions devices, and as many as its open files allow; rollcall doctor looks.
            """)
    }
}
