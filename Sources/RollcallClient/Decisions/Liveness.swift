// A connection that carries nothing for longer than the worker would let pass between two pings is dead, though TCP
// may not know it for minutes. A client that was itself asleep (a suspended app, a laptop's lid) asks before it judges.

/// Whether a connection is alive, by what came over it.
struct Liveness {
    enum Judgement: Equatable {
        case alive
        /// Send something that must be answered.
        case ask
        case dead
    }

    /// How long an answer may take.
    static let answerTime = Duration.seconds(3)
    /// A deadline noticed this much late means that this process did not run meanwhile.
    static let asleep = Duration.seconds(1)

    /// `nil` where an end is always heard.
    private let silence: Duration?
    /// When to call ``deadlinePassed(at:)``.
    private(set) var deadline: ContinuousClock.Instant?
    private var isAsking = false

    /// - Parameter ping: how often the worker pings.
    init(ping: Duration, slack: Duration, at now: ContinuousClock.Instant) {
        silence = ping * 2 + slack
        deadline = now + ping * 2 + slack
    }

    /// A connection whose end is always heard is not judged by its silence.
    init() {
        silence = nil
    }

    /// Something came. While an answer is awaited it is none: it may have been under way, or lain in this machine, since
    /// before the connection died. But it may be what the answer has to wait behind.
    mutating func heard(at now: ContinuousClock.Instant) {
        deadline = silence.map { now + (isAsking ? Self.answerTime : $0) }
    }

    /// What was asked for came.
    mutating func answered(at now: ContinuousClock.Instant) {
        isAsking = false
        heard(at: now)
    }

    /// There is reason to doubt: the app came back to the front, the network changed.
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
