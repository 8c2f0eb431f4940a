// A connection that carries nothing for two of the worker's pings and some slack is dead, although TCP may not notice
// for minutes. A client that was itself suspended (an app in the background, a closed laptop) sends a ping before it
// decides.

/// Whether a connection is alive, judged by when something was last received.
struct Liveness {
    enum Judgement: Equatable {
        case alive
        /// A ping must be sent, which the worker must answer.
        case ask
        case dead
    }

    /// How long the answer to a ping may take.
    static let answerTime = Duration.seconds(3)
    /// If a deadline is noticed this much late, the process was suspended.
    static let asleep = Duration.seconds(1)

    /// How long the connection may be silent; `nil` if its end is always reported.
    private let silence: Duration?
    /// When to call ``deadlinePassed(at:)``.
    private(set) var deadline: ContinuousClock.Instant?
    private var isAsking = false

    /// - Parameters:
    ///   - ping: the interval of the worker's pings.
    ///   - slack: how much longer than two intervals the connection may be silent.
    init(ping: Duration, slack: Duration, at now: ContinuousClock.Instant) {
        silence = ping * 2 + slack
        deadline = now + ping * 2 + slack
    }

    /// For a connection whose end is always reported, so that silence means nothing.
    init() {
        silence = nil
    }

    /// Handles received data. It does not count as the answer to a ping, because it may have been sent before the
    /// connection died. But it may delay the answer, which therefore gets more time.
    mutating func heard(at now: ContinuousClock.Instant) {
        deadline = silence.map { now + (isAsking ? Self.answerTime : $0) }
    }

    /// Handles the answer to the ping.
    mutating func answered(at now: ContinuousClock.Instant) {
        isAsking = false
        heard(at: now)
    }

    /// Handles a reason for doubt: the app is in the foreground again, or the network has changed.
    mutating func doubted(at now: ContinuousClock.Instant) -> Judgement {
        if isAsking || silence == nil { return .alive }
        isAsking = true
        deadline = now + Self.answerTime
        return .ask
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) -> Judgement {
        guard let deadline, now >= deadline else { return .alive }
        if now < deadline + Self.asleep { return .dead }
        isAsking = false
        return doubted(at: now)
    }
}
