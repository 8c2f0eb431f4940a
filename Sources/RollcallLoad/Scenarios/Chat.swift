// A compressed day of chatting. Users act independently, so the actions of many form a Poisson process: they start to
// type, type for a while with the signals of `RollcallClient`, and stop or send; they become idle and active again;
// they leave and return.

internal import RollcallModel

/// Users in conversations of ten.
struct Chat: Scenario {
    /// The mean time to type a message, to stay, to be absent, to be attentive, and to be idle.
    private enum Mean {
        static let typing = Duration.seconds(3)
        static let stay = Duration.seconds(120)
        static let absence = Duration.seconds(10)
        static let attention = Duration.seconds(60)
        static let distraction = Duration.seconds(10)
    }

    private static let longestMessage = Duration.seconds(20)
    private static let idle = DeviceFrame.message(.state(.idle))
    private static let active = DeviceFrame.message(.state(.active))
    private static let goodbye = DeviceFrame.message(.goodbye)

    private let neighbourhood: Neighbourhood
    private var talks: Talks
    private let frames: [TypingFrames]
    /// The conversation in which a device's user is typing.
    private var typing: [Int?]
    /// The mean pause of a user between two messages.
    private let silence: Duration

    init(_ plan: Plan) {
        neighbourhood = Neighbourhood(plan)
        talks = Talks(neighbourhood.talks)
        frames = talks.names.map { TypingFrames($0) }
        typing = Array(repeating: nil, count: plan.count)
        silence = plan.bursts > 0 ? .seconds(Double(plan.count) / plan.bursts) : .seconds(86_400)
    }

    func entrance(of device: Int, _ plan: Plan) -> (frames: [UInt8], acknowledgements: Int) {
        neighbourhood.entrance(of: device)
    }

    /// Schedules a user's first actions, from the start of the measurement or from the user's arrival.
    private func live(_ device: Int, _ stage: inout Stage) {
        for (step, mean) in [(.start, silence), (.lookAway, Mean.attention), (.leave, Mean.stay)]
            as [(Cue.Step, Duration)]
        {
            stage.note(step, device, at: stage.now + stage.chance.wait(mean: mean))
        }
    }

    mutating func began(_ stage: inout Stage) {
        for device in 0..<stage.plan.count { live(device, &stage) }
    }

    mutating func settled(_ device: Int, _ stage: inout Stage) {
        for talk in neighbourhood.talks(of: device) { talks[talk].joined(stage.number(of: device)) }
        if stage.isMeasured { live(device, &stage) }
    }

    mutating func ended(_ device: Int, _ stage: inout Stage) {
        typing[device] = nil
        for talk in neighbourhood.talks(of: device) {
            talks[talk].gone(stage.number(of: device), at: stage.now, &stage.tally)
        }
    }

    mutating func act(_ cue: Cue, due: Moment, _ stage: inout Stage) {
        let device = cue.device
        switch cue.step {
        case .start: start(device, due, &stage)
        case .renew: renew(device, due, &stage)
        case .stop: stop(device, due, &stage)
        case .lookAway:
            // Users do not become idle while they are typing.
            if typing[device] == nil { stage.say(Self.idle, from: device, due: due) }
            stage.note(.lookBack, device, at: due + stage.chance.wait(mean: Mean.distraction))
        case .lookBack:
            stage.say(Self.active, from: device, due: due)
            stage.note(.lookAway, device, at: due + stage.chance.wait(mean: Mean.attention))
        case .leave: leave(device, due, &stage)
        case .connect, .giveUp, .cut: break
        }
    }

    private mutating func start(_ device: Int, _ due: Moment, _ stage: inout Stage) {
        let talk = neighbourhood.talks(of: device)[Int.random(in: 0...1, using: &stage.chance)]
        typing[device] = talk
        talks[talk].changed(stage.number(of: device), to: true, due: due, &stage.tally)
        stage.say(frames[talk].start, from: device, due: due)
        let length = min(stage.chance.wait(mean: Mean.typing), Self.longestMessage)
        stage.note(.stop, device, at: due + .milliseconds(300) + length)
        stage.note(.renew, device, at: due + stage.throttle)
    }

    private func renew(_ device: Int, _ due: Moment, _ stage: inout Stage) {
        guard let talk = typing[device] else { return }
        stage.say(frames[talk].start, from: device, due: due)
        stage.note(.renew, device, at: due + stage.throttle)
    }

    /// Stops typing. The next start waits for the throttle after this one: the worker would defer an earlier start, and
    /// people are not so quick.
    private mutating func stop(_ device: Int, _ due: Moment, _ stage: inout Stage) {
        guard let talk = typing[device] else { return }
        typing[device] = nil
        talks[talk].changed(stage.number(of: device), to: false, due: due, &stage.tally)
        stage.say(frames[talk].stop, from: device, due: due)
        stage.note(.start, device, at: due + stage.throttle + stage.chance.wait(mean: silence))
    }

    /// Leaves. The user's typing ends too, and a later view of it by other users is not expected.
    private mutating func leave(_ device: Int, _ due: Moment, _ stage: inout Stage) {
        if let talk = typing[device] {
            talks[talk].changed(stage.number(of: device), to: false, due: due, &stage.tally)
        }
        stage.say(Self.goodbye, from: device, due: due)
        stage.expectEnd(of: device, returning: due + .seconds(1) + stage.chance.wait(mean: Mean.absence))
    }

    func picture(of typing: ServerMessage.Typing, _ plan: Plan) -> TypingPicture? { talks.picture(of: typing, plan) }

    mutating func heard(_ device: Int, _ picture: TypingPicture, _ stage: inout Stage) {
        talks[picture.talk].heard(stage.number(of: device), picture, at: stage.now, &stage.tally)
    }
}
