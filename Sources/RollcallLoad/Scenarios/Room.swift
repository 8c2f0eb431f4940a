// One conversation with all devices of all processes. All processes know in advance when each user types, so each can
// time what its own devices see, also of other processes' users.

internal import RollcallModel

/// Some users type eight keys per second for two seconds at a time; all devices observe.
struct Room: Scenario {
    private static let key = Duration.milliseconds(125)
    private static let keys = 16

    private var talks: Talks
    private let frames: TypingFrames
    /// The users who type, numbered over all processes and evenly spread over them.
    private let typists: [Int]
    private let numbers: Range<Int>

    init(_ plan: Plan) {
        let count = min(plan.typists, plan.devices)
        typists = (0..<count).map { $0 * plan.devices / count }
        talks = Talks([(plan.conversation("room"), typists)])
        frames = TypingFrames(talks.names[0])
        numbers = plan.numbers
    }

    func entrance(of device: Int, _ plan: Plan) -> (frames: [UInt8], acknowledgements: Int) { (frames.join, 1) }

    /// The pause of a user. The worker would defer a start that follows the last renewal within the throttle.
    private static func pause(_ stage: Stage) -> Duration { max(.milliseconds(1_500), stage.throttle + key * 4) }

    mutating func began(_ stage: inout Stage) {
        let cycle = Self.key * Self.keys + Self.pause(stage)
        for typist in typists.indices {
            stage.schedule(.start, typist, at: stage.now + cycle / typists.count * typist)
        }
    }

    mutating func act(_ cue: Cue, due: Moment, _ stage: inout Stage) {
        let user = typists[cue.device]
        if cue.step != .renew { talks[0].changed(user, to: cue.step == .start, due: due, &stage.tally) }
        if numbers.contains(user), stage.isSettled(user - numbers.lowerBound) {
            stage.say(cue.step == .stop ? frames.stop : frames.start, from: user - numbers.lowerBound, due: due)
        }
        switch cue.step {
        case .start:
            stage.schedule(.stop, cue.device, at: due + Self.key * Self.keys)
            if numbers.contains(user) { renew(cue.device, after: due, &stage) }
        case .stop: stage.schedule(.start, cue.device, at: due + Self.pause(stage))
        default: break
        }
    }

    private func renew(_ typist: Int, after due: Moment, _ stage: inout Stage) {
        for key in 1..<Self.keys { stage.schedule(.renew, typist, at: due + Self.key * key) }
    }

    mutating func settled(_ device: Int, _ stage: inout Stage) { talks[0].joined(stage.number(of: device)) }

    mutating func ended(_ device: Int, _ stage: inout Stage) {
        talks[0].gone(stage.number(of: device), at: stage.now, &stage.tally)
    }

    func picture(of typing: ServerMessage.Typing, _ plan: Plan) -> TypingPicture? { talks.picture(of: typing, plan) }

    mutating func heard(_ device: Int, _ picture: TypingPicture, _ stage: inout Stage) {
        talks[0].heard(stage.number(of: device), picture, at: stage.now, &stage.tally)
    }
}
