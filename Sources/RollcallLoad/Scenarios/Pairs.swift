// The witness: what a load does to users who were there before.

internal import RollcallModel

/// Pairs of users who type to each other in turn. Each pair has its own conversation, and is on two workers if there
/// are several. The pairs are few, and measure what any user would notice.
struct Pairs: Scenario {
    private var talks: Talks
    private let frames: [TypingFrames]

    init(_ plan: Plan) {
        let first = plan.numbers.lowerBound
        talks = Talks(
            (0..<plan.count / 2).map { pair in
                (plan.conversation("pair\(pair)"), [first + 2 * pair, first + 2 * pair + 1])
            })
        frames = talks.names.map { TypingFrames($0) }
    }

    func entrance(of device: Int, _ plan: Plan) -> (frames: [UInt8], acknowledgements: Int) {
        (frames[device / 2].join, 1)
    }

    /// The starts and stops of all pairs are evenly spread over a round, so that no two disturb each other. A start
    /// that follows the same user's last one within the throttle would be deferred by the worker.
    mutating func began(_ stage: inout Stage) {
        for pair in frames.indices {
            let offset = round(stage) / frames.count * pair
            stage.schedule(.start, 2 * pair, at: stage.now + offset)
        }
    }

    mutating func act(_ cue: Cue, due: Moment, _ stage: inout Stage) {
        let (pair, isTyping) = (cue.device / 2, cue.step == .start)
        if stage.isSettled(cue.device) {
            talks[pair].changed(stage.number(of: cue.device), to: isTyping, due: due, &stage.tally)
            stage.say(isTyping ? frames[pair].start : frames[pair].stop, from: cue.device, due: due)
        }
        stage.schedule(isTyping ? .stop : .start, isTyping ? cue.device : cue.device ^ 1, at: due + round(stage) / 2)
    }

    private func round(_ stage: Stage) -> Duration { stage.throttle / 2 + .milliseconds(50) }

    mutating func settled(_ device: Int, _ stage: inout Stage) { talks[device / 2].joined(stage.number(of: device)) }

    mutating func ended(_ device: Int, _ stage: inout Stage) {
        talks[device / 2].gone(stage.number(of: device), at: stage.now, &stage.tally)
    }

    func picture(of typing: ServerMessage.Typing, _ plan: Plan) -> TypingPicture? { talks.picture(of: typing, plan) }

    mutating func heard(_ device: Int, _ picture: TypingPicture, _ stage: inout Stage) {
        talks[picture.talk].heard(stage.number(of: device), picture, at: stage.now, &stage.tally)
    }
}
